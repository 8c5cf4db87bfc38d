import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { uniqueName } from '../test/kit/clients'
import { describeWithJava, javaBenchWorker, REDISSON_VERSIONS } from '../test/kit/java'
import { freshCluster, ownServer } from '../test/kit/servers/index'

interface CallersResult {
  readonly sections: number
  readonly perCaller: readonly number[]
  readonly waitsUs: readonly number[]
  readonly lastSectionAt: number
  readonly errors: number
  readonly violations: number
  readonly overtaken: number
}

interface HandoffResult {
  readonly unlocks: readonly number[]
  readonly entries: readonly number[]
}

const SHORT = { subject: 'java', warmupMs: 300, measureMs: 300, holdMs: 0 }

describeWithJava('Java as a worker of the bench', () => {
  const server = ownServer()

  it('The Java worker of the bench sends callers through locks and counts in the window', async () => {
    const locks = [uniqueName(), uniqueName()]
    // Long enough that a busy machine, which runs what comes first cold, does not decide.
    const order = { ...SHORT, measureMs: 1_000, scenario: 'throughput', redis: server.url, callers: 4, locks }
    const result = await work<CallersResult>(order)
    expect(result).to.include({ errors: 0, violations: 0 })
    expect(result.perCaller).to.have.length(4)
    for (const turns of result.perCaller) expect(turns).to.be.greaterThan(0)
    expect(sum(result.perCaller)).to.equal(result.sections)
    // Those that still wait at the end count as well.
    expect(result.waitsUs).to.have.lengthOf.within(result.sections, result.sections + 4)
    // Two locks: two of the four wait at any time, and none waits longer than it all took.
    expect(sum(result.waitsUs) / 1000).to.be.within(1_000, 4 * 2_000)
    expect(result.overtaken).to.be.within(0, result.sections)
    expect(result.lastSectionAt).to.be.within(500, 1_000)
  })

  it('The Java worker of the bench reads and writes in the proportion asked for', async () => {
    const order = { ...SHORT, scenario: 'read-write', redis: server.url, callers: 4, locks: [uniqueName()] }
    // Long enough that a busy machine, which runs what comes first cold, does not decide.
    const long = { ...order, measureMs: 1_500, holdMs: 10 }
    const mixed = await work<CallersResult>({ ...long, readers: 9, writers: 1 })
    const writing = await work<CallersResult>({ ...long, readers: 0, writers: 1 })
    for (const result of [mixed, writing]) expect(result).to.include({ errors: 0, violations: 0 })
    // Writers alone: one at a time. With readers together, more than that.
    expect(writing.sections).to.be.within(1, 150)
    expect(mixed.sections).to.be.greaterThan(writing.sections)
  })

  it('The Java worker of the bench hands off to another process and back', async () => {
    const order = {
      ...SHORT,
      // Two cold virtual machines on a busy machine need a while for a few turns.
      measureMs: 2_000,
      scenario: 'handoff',
      redis: server.url,
      callers: 1,
      locks: [uniqueName()],
      holdMs: 20,
    }
    const [holder, taker] = await workTogether<HandoffResult>([
      { ...order, role: 'holder' },
      { ...order, role: 'taker' },
    ])
    const took = holder!.unlocks
      .map((unlocked) => taker!.entries.find((entered) => entered > unlocked)! - unlocked)
      // After its last unlock the other may have been through.
      .filter((ms) => !Number.isNaN(ms))
      .sort((a, b) => a - b)
    expect(took.length).to.be.greaterThan(3)
    // A waiter that was not woken would try again when the lease of 30 s is over.
    expect(took[took.length >> 1]).to.be.below(500)
  })

  it('The Java worker of the bench works in a cluster', async () => {
    const cluster = await freshCluster()
    const nodes = cluster.nodes.map(({ url }) => url)
    const order = {
      ...SHORT,
      measureMs: 1_000,
      scenario: 'throughput',
      cluster: nodes,
      callers: 2,
      locks: ['a', 'b'],
    }
    const result = await work<CallersResult>(order)
    expect(result).to.have.property('errors', 0)
    expect(result.sections).to.be.greaterThan(0)
  })
})

async function work<Result>(order: object): Promise<Result> {
  return (await workTogether<Result>([order]))[0]!
}

/** As the driver does: none begins before all are ready. */
async function workTogether<Result>(orders: readonly object[]): Promise<Result[]> {
  const { command, args } = await javaBenchWorker()
  const workers = orders.map((order) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
    say(order)
    return {
      child,
      say,
      ended: once(child, 'exit'),
      answer: async () => JSON.parse((await lines.next()).value),
    }
  })
  try {
    for (const { answer } of workers)
      expect(await answer()).to.include({ ready: true, redisson: REDISSON_VERSIONS.newest })
    const start = Date.now() + 100
    for (const { say } of workers) say({ start })
    const results: Result[] = []
    for (const { answer } of workers) results.push((await answer()).result)
    for (const { ended } of workers) expect(await ended).to.deep.equal([0, null])
    return results
  } finally {
    for (const { child } of workers) child.kill('SIGKILL')
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
