import { expect } from 'chai'
import { uniqueName } from '../test/kit/clients'
import { runCallers } from '../test/kit/contention/callers'
import { type ContentionReport, REDISSON_VERSIONS } from '../test/kit/java'
import { Program } from '../test/kit/program'
import type { CallersReport } from '../test/kit/read-write/callers'
import { callersSpec, LEASE_MS, LONG, runMixed } from '../test/kit/read-write/mixed'
import { describeWorlds, type World } from './support/world'

const { oldest, newest } = REDISSON_VERSIONS
const JAVA = { threads: 4, sections: 1_000 }
const NODE = { callers: 4, sectionsEach: 250 }
const TURNS = 20

describeWorlds(
  'contention of Java threads and Node callers',
  [oldest, newest],
  { lockWatchdogTimeout: LEASE_MS },
  (world) => {
    contentionTests(world)
    if (world.version === newest) processTests(world)
  },
)

function contentionTests(world: World): void {
  it('Callers of Node and Java lose no update, and none waits for a lease (guarantee 1)', async () => {
    const [name, counterKey] = [uniqueName(), uniqueName('counter')]
    const started = performance.now()
    const [java, node] = await Promise.all([
      world.Java.contend(name, { ...JAVA, counterKey }),
      runCallers(world.Node.redisson.getLock(name), world.redis, counterKey, NODE),
    ])
    const took = performance.now() - started
    expect(java.errors).to.deep.equal([])
    expect([java.sections, node.sections]).to.deep.equal([1_000, 1_000])
    expect(await world.redis.get(counterKey)).to.equal('2000')
    expect(Math.max(java.max, node.longestWaitMs)).to.be.below(LEASE_MS)
    expect(await world.redis.exists(name)).to.equal(0)
    console.log(
      `        ${Math.round(2_000_000 / took)} sections/s, longest wait ` +
        `${Math.round(java.max)} ms in Java, ${Math.round(node.longestWaitMs)} ms in Node`,
    )
  })

  it('Java and Node exclude each other also by tryLock() with a wait and by leases', async () => {
    const [name, counterKey] = [uniqueName(), uniqueName('counter')]
    const lock = world.Node.redisson.getLock(name)
    let entered = 0
    const caller = async () => {
      for (let i = 0; i < 40; i++) {
        const hold = await lock.tryAcquire({ waitTime: 15, leaseTime: 5_000 })
        if (!hold) continue
        await world.redis.set(counterKey, Number(await world.redis.get(counterKey)) + 1)
        entered++
        await hold.unlock()
      }
    }
    const [java] = await Promise.all([
      world.Java.contend(name, {
        threads: 3,
        sections: 150,
        waitTime: 15,
        leaseTime: 5_000,
        holdMs: [0, 4],
        counterKey,
      }),
      ...Array.from({ length: 4 }, caller),
    ])
    // Where the wait of one thread of Redisson 3.16.8 ends while it subscribes, its other threads may get this.
    expect(java.errors.filter((error) => !error.includes('CancellationException'))).to.deep.equal([])
    expect(java.sections).to.equal(150)
    // Waits that ran out are what makes this different from the test above.
    expect(java.timeouts + (160 - entered)).to.be.greaterThan(0)
    expect(await world.redis.get(counterKey)).to.equal(String(150 + entered))
    expect(await world.redis.exists(name)).to.equal(0)
  })
}

/** Several Node processes beside the Java one. */
function processTests(world: World): void {
  it('Multi locks of Java and Node in random orders are acquired one at a time (M1)', async () => {
    const { redis } = world
    const names = ['a', 'b', 'c'].map((name) => uniqueName(name))
    const [a, b, c] = names
    const counterKey = uniqueName('counter')
    const nodes = [1, 2].map(
      () =>
        new Program(
          'multi-lock-callers.ts',
          String(world.server.port),
          names.join(),
          String(TURNS),
          counterKey,
        ),
    )
    for (const node of nodes) expect(await node.line()).to.equal('ready')
    const started = performance.now()
    for (const node of nodes) node.say('go')
    // One Java thread: two with different orders would keep each other waiting for whole rounds of 4.5 s.
    const java = (async () => {
      const reports: ContentionReport[] = []
      for (const order of [
        [c, b, a],
        [b, a, c],
      ])
        reports.push(
          await world.Java.contend(order.join(), {
            type: 'multi',
            sections: TURNS / 2,
            holdMs: [0, 4],
            pauseMs: [0, 4],
            counterKey,
          }),
        )
      return reports
    })()
    const [longest, reports] = await Promise.all([Promise.all(nodes.map((node) => node.line())), java])
    const took = performance.now() - started
    for (const report of reports) expect(report.errors).to.deep.equal([])
    expect(await redis.get(counterKey)).to.equal(String(3 * TURNS))
    expect(took).to.be.lessThan(30_000)
    expect(await redis.exists(...names)).to.equal(0)
    const ofJava = Math.round(Math.max(...reports.map(({ max }) => max)))
    console.log(
      `        ${Math.round(took)} ms in all; longest wait ${longest} ms in Node, ${ofJava} ms in Java`,
    )
  })

  it('A writer is always alone, every read is consistent, and no caller waits for a lease', async () => {
    const spec = callersSpec(uniqueName('mixed'), LONG ? 30_000 : 6_000)
    const java = async (): Promise<CallersReport[]> => {
      const { durationMs, holdMs, counterKey, twinKey, logStream } = spec
      const common = { durationMs, holdMs, counterKey, twinKey, logStream }
      const [reads, writes] = await Promise.all([
        world.Java.contend(spec.lock, {
          ...common,
          type: 'read',
          threads: spec.readers,
          pauseMs: spec.readerPauseMs,
        }),
        world.Java.contend(spec.lock, {
          ...common,
          type: 'write',
          threads: spec.writers,
          pauseMs: spec.writerPauseMs,
        }),
      ])
      expect([...reads.errors, ...writes.errors]).to.deep.equal([])
      return [
        {
          reads: reads.sections,
          writes: writes.sections,
          longestReadWaitMs: reads.max,
          longestWriteWaitMs: writes.max,
        },
      ]
    }
    const said = await runMixed(world.server.url, world.redis, 3, spec, java)
    console.log(`        ${said}`)
  })
}
