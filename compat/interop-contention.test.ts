import { expect } from 'chai'
import { uniqueName } from '../test/kit/clients'
import { runCallers } from '../test/kit/contention/callers'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { setUpWorld, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]
const LEASE_MS = 10_000
const JAVA = { threads: 4, sections: 1_000 }
const NODE = { callers: 4, sectionsEach: 250 }

describeWithJava(
  'contention of Java threads and Node callers',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        contentionTests(setUpWorld(version, { lockWatchdogTimeout: LEASE_MS }))
      })
    }
  },
  VERSIONS,
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
