import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { type Standalone, startCluster, startStandalone } from '../test/servers'
import { uniqueName } from '../test/support/clients'
import { describeWithJava, javaBenchWorker, REDISSON_VERSIONS } from './java-peer'

interface FlowsResult {
  readonly sections: number
  readonly perFlow: readonly number[]
  readonly waitsUs: readonly number[]
  readonly lastSectionAt: number
  readonly errors: number
  readonly violations: number
  readonly overtaken: number
}

interface HandOverResult {
  readonly unlocks: readonly number[]
  readonly entries: readonly number[]
}

const SHORT = { subject: 'java', warmupMs: 300, measureMs: 300, holdMs: 0 }

describeWithJava('Java as a worker of the bench', () => {
  let server: Standalone

  before(async () => {
    server = await startStandalone()
  })

  after(() => server.stop())

  it('sends flows through locks, and counts what falls into the window', async () => {
    const locks = [uniqueName(), uniqueName()]
    const order = { ...SHORT, scenario: 'throughput', redis: server.url, flows: 4, locks }
    const result = await work<FlowsResult>(order)
    expect(result).to.include({ errors: 0, violations: 0 })
    expect(result.perFlow).to.have.length(4)
    for (const turns of result.perFlow) expect(turns).to.be.greaterThan(0)
    expect(sum(result.perFlow)).to.equal(result.sections)
    // Those that still wait at the end count as well.
    expect(result.waitsUs).to.have.lengthOf.within(result.sections, result.sections + 4)
    // Two locks: two of the four wait at any time, and none waits longer than it all took.
    expect(sum(result.waitsUs) / 1000).to.be.within(300, 4 * 600)
    expect(result.overtaken).to.be.within(0, result.sections)
    expect(result.lastSectionAt).to.be.within(200, 300)
  })

  it('reads and writes in the proportion asked for', async () => {
    const order = { ...SHORT, scenario: 'read-write', redis: server.url, flows: 4, locks: [uniqueName()] }
    const mixed = await work<FlowsResult>({ ...order, holdMs: 10, readers: 9, writers: 1 })
    const writing = await work<FlowsResult>({ ...order, holdMs: 10, readers: 0, writers: 1 })
    for (const result of [mixed, writing]) expect(result).to.include({ errors: 0, violations: 0 })
    // Writers alone: one at a time. With readers together, more than that.
    expect(writing.sections).to.be.within(1, 30)
    expect(mixed.sections).to.be.greaterThan(writing.sections)
  })

  it('hands over to another process and back', async () => {
    const order = {
      ...SHORT,
      // Two cold virtual machines on a busy machine need a while for a few turns.
      measureMs: 2_000,
      scenario: 'hand-over',
      redis: server.url,
      flows: 1,
      locks: [uniqueName()],
      holdMs: 20,
    }
    const [holder, taker] = await workTogether<HandOverResult>([
      { ...order, role: 'holder' },
      { ...order, role: 'taker' },
    ])
    const took = holder!.unlocks
      .map((unlocked) => taker!.entries.find((entered) => entered > unlocked)! - unlocked)
      // After its last unlock the other may have been through.
      .filter((ms) => !Number.isNaN(ms))
      .sort((a, b) => a - b)
    expect(took.length).to.be.greaterThan(3)
    // One that was not woken would look again when the lease of 30 s is over.
    expect(took[took.length >> 1]).to.be.below(500)
  })

  it('works in a cluster', async () => {
    const cluster = await startCluster()
    try {
      const nodes = cluster.nodes.map(({ url }) => url)
      const order = { ...SHORT, scenario: 'throughput', cluster: nodes, flows: 2, locks: ['a', 'b'] }
      const result = await work<FlowsResult>(order)
      expect(result).to.have.property('errors', 0)
      expect(result.sections).to.be.greaterThan(0)
    } finally {
      await cluster.stop()
    }
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
