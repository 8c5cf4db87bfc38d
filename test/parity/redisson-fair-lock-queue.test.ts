import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { rejection, timed } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { fairScene } from '../locks/fair-scene'

/** How long a place of ours outlives its last refresh; Java's bound is the lease and five minutes a place. */
const PLACE_LASTS = 5_000
/** The same, where a test has to outlast it. */
const SHORT = 600

/**
 * Redisson's own tests of the queue of a fair lock. Java's ask its scripts what a place costs those behind it, as a time
 * to live that drifts. Here a place costs what is left of its allowance, and the tests look at that in Redis.
 */
describe("Redisson's tests of the queue of a fair lock", () => {
  const scene = fairScene()

  // There a lease is a second and the wait ten: the same ratio, with some room for a busy machine.
  it('RedissonFairLockTest.testLeaseTimeout: eight threads that never release, in order', async () => {
    const redisson = await scene.open()
    const entered: number[] = []
    const threads: Promise<unknown>[] = []
    for (let number = 0; number < 8; number++) {
      threads.push(
        redisson.run(async () => {
          if (await scene.lockOf(redisson).tryLock(4_000, 200)) entered.push(number)
        }),
      )
      await sleep(30)
    }
    await Promise.all(threads)
    expect(entered).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('RedissonFairLockTest.testConcurrency_MultiInstance_Ordering: enter in order', async () => {
    const redisson = await scene.open()
    const came: number[] = []
    const entered: number[] = []
    const threads: Promise<unknown>[] = []
    for (let number = 0; number < 8; number++) {
      threads.push(
        redisson.run(async () => {
          const lock = scene.lockOf(redisson)
          came.push(number)
          await lock.lock()
          entered.push(number)
          await sleep(40)
          await lock.unlock()
        }),
      )
      await sleep(10)
    }
    await Promise.all(threads)
    expect(entered).to.deep.equal(came)
  })

  it('RedissonFairLockTest.testWaitTimeoutDrift: short waits leave no late place', () =>
    tryAndBeInterrupted({ tries: 30, waitTime: 50, holdMs: 400 }))

  it('RedissonFairLockTest.testLockAcquiredTimeoutDrift: turns leave no late place', () =>
    tryAndBeInterrupted({ tries: 3, waitTime: 3_000, holdMs: 100 }))

  it('RedissonFairLockTest.testFirstThreadDeathTimeoutDrift: nor do repeated entries', () =>
    tryAndBeInterrupted({ tries: 10, waitTime: 3_000, holdMs: 50 }))

  it('RedissonFairLockTest.testAcquireFailedTimeoutDrift_Descrete: leaving moves others up', async () => {
    const redisson = await scene.open()
    const hold = await scene.lockOf(redisson).acquire({ leaseTime: 30_000 })
    const first = await scene.waiting(scene.lockOf(redisson))
    const leaving = new AbortController()
    const second = await scene.waiting(scene.lockOf(redisson), leaving.signal)
    const third = await scene.waiting(scene.lockOf(redisson))
    const fourth = await scene.waiting(scene.lockOf(redisson))
    leaving.abort()
    await rejection(second.acquired)
    await waitUntil('it has left', async () => (await scene.length()) === 3)
    expect(await scene.java.places()).to.deep.equal([first.owner, third.owner, fourth.owner])
    await expectPlacesToLapseSoon()
    await hold.unlock()
    const next = await first.acquired
    expect(await scene.java.places()).to.deep.equal([third.owner, fourth.owner])
    await expectPlacesToLapseSoon()
    await next.unlock()
    await (await third.acquired).unlock()
    await (await fourth.acquired).unlock()
  })

  it('RedissonFairLockTest.testLockAcquiredTimeoutDrift_Descrete: turns move others up', async () => {
    const redisson = await scene.open()
    const hold = await scene.lockOf(redisson).acquire({ leaseTime: 300_000 })
    const first = await scene.waiting(scene.lockOf(redisson))
    const second = await scene.waiting(scene.lockOf(redisson))
    await hold.unlock()
    const next = await first.acquired
    const third = await scene.waiting(scene.lockOf(redisson))
    expect(await scene.java.places()).to.deep.equal([second.owner, third.owner])
    await expectPlacesToLapseSoon()
    await next.unlock()
    await (await second.acquired).unlock()
    const last = await third.acquired
    expect(await scene.java.places()).to.deep.equal([])
    await last.unlock()
  })

  it('RedissonFairLockTest.testLockAcquiredBooleanTimeoutDrift_Descrete: a dead one is passed', async () => {
    const [redisson, dying] = await aliveAndDying()
    const hold = await scene.lockOf(redisson, SHORT).acquire({ leaseTime: 500 })
    const first = await scene.waiting(scene.lockOf(redisson, SHORT))
    const dead = await scene.waiting(scene.lockOf(dying.redisson, SHORT))
    await hold.unlock()
    const next = await first.acquired
    const third = await scene.waiting(scene.lockOf(redisson, SHORT))
    dying.die()
    expect(await scene.java.places()).to.deep.equal([dead.owner, third.owner])
    expect(await scene.lockOf(redisson, SHORT).tryLock()).to.equal(false)
    await next.unlock()
    expect(await timed(() => third.acquired)).to.be.below(SHORT + 1_000)
    expect(await scene.java.places()).to.deep.equal([])
  })

  it('RedissonFairLockTest.testAbandonedTimeoutDrift_Descrete: the dead are passed', async () => {
    const [redisson, dying] = await aliveAndDying()
    await scene.lockOf(dying.redisson, SHORT).acquire({ leaseTime: 500 })
    for (let dead = 0; dead < 2; dead++) await scene.waiting(scene.lockOf(dying.redisson, SHORT))
    const { acquired } = await scene.waiting(scene.lockOf(redisson, SHORT))
    dying.die()
    const [first, , third] = await scene.java.allowances()
    expect(third! - first!, 'places of ours do not add up').to.be.below(SHORT)
    expect(await timed(() => acquired)).to.be.below(500 + SHORT + 1_000)
  })

  it('RedissonFairLockTest.testAcquireFailedNotCalledOnRedisTimeout: a pause is sat out', async () => {
    const redisson = await scene.open()
    const errors = eventsOf(redisson, 'error')
    await scene.lockOf(redisson).acquire({ leaseTime: 700 })
    const second = await scene.waiting(scene.lockOf(redisson))
    const trying = redisson.run(() => scene.lockOf(redisson).tryLock(20_000, 300))
    await waitUntil('both are in the queue', async () => (await scene.length()) === 2)
    await scene.redis.call('CLIENT', 'PAUSE', '60000', 'WRITE')
    await sleep(2_500)
    await scene.redis.call('CLIENT', 'UNPAUSE')
    await (await second.acquired).unlock()
    expect(await trying).to.equal(true)
    expect(await scene.length()).to.equal(0)
    expect(errors).to.deep.equal([])
  })

  /** Three threads try, one more is interrupted while it waits, and the lock is freed by force: nothing may be in its way. */
  async function tryAndBeInterrupted(given: { tries: number; waitTime: number; holdMs: number }) {
    const redisson = await scene.open()
    const lock = scene.lockOf(redisson)
    let left = given.tries
    let entered = 0
    const thread = () =>
      redisson.run(async () => {
        while (left-- > 0) {
          if (!(await lock.tryLock(given.waitTime, 30_000))) continue
          entered++
          await sleep(given.holdMs)
          await lock.unlock()
        }
      })
    const threads: Promise<void>[] = []
    for (let number = 0; number < 3; number++) {
      threads.push(thread())
      await sleep(50)
      await expectPlacesToLapseSoon()
    }
    await Promise.all(threads)
    expect(entered).to.be.greaterThan(0)
    await lock.acquire()
    const interrupt = new AbortController()
    const last = lock.tryLock({ waitTime: 30_000, leaseTime: 30_000, signal: interrupt.signal })
    await waitUntil('the last one waits', async () => (await scene.length()) === 1)
    await expectPlacesToLapseSoon()
    interrupt.abort()
    await rejection(last)
    await lock.forceUnlock()
    expect(await lock.isLocked()).to.equal(false)
    await scene.nothingIsLeft()
  }

  async function expectPlacesToLapseSoon() {
    // They are read some time after the time is.
    for (const allowance of await scene.java.allowances()) expect(allowance).to.be.below(PLACE_LASTS + 200)
  }

  /** A client that lives, and one that can be cut off from the server, as by its death. */
  async function aliveAndDying(): Promise<[Redisson, { redisson: Redisson; die(): void }]> {
    const proxy = await openProxy(scene.server)
    const redisson = await scene.open({}, proxy.url)
    return [await scene.open(), { redisson, die: () => proxy.stall() }]
  }
})
