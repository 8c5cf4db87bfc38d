import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ForeignFairLock } from '../kit/foreign-fair-lock'
import { waitUntil } from '../kit/servers/index'
import { RLockChecks } from './rlock-checks'

/** Redisson's own tests of the fair lock as of any lock; those of its queue are in redisson-fair-lock-queue.test.ts. */
describe("Redisson's tests of fair locks", () => {
  const fair = new RLockChecks((redisson, name) => redisson.getFairLock(name))

  it('RedissonFairLockTest.testTryLockNonDelayed: a wait that ended delays no later try', async () => {
    const redisson = await createRedisson()
    const name = uniqueName()
    const lock = redisson.getFairLock(name)
    await redisson.run(async () => {
      expect(await lock.tryLock(0)).to.equal(true)
      expect(await redisson.run(() => lock.tryLock(200))).to.equal(false)
      await lock.unlock()
    })
    expect(await lock.tryLock(0)).to.equal(true)
    await lock.unlock()
  })

  it('RedissonFairLockTest.testTryLockWait: the wait is as long as it was said', () => fair.tryLockWait())

  it('RedissonFairLockTest.testForceUnlock: the lock is free, through any object', () => fair.forceUnlock())

  it("RedissonFairLockTest.testExpire: a waiter enters at the lease's end, unlock() fails", () =>
    fair.expire())

  it("RedissonFairLockTest.testAutoExpire: a dead client's lock is free by the watchdog time", () =>
    fair.autoExpire())

  it('RedissonFairLockTest.testGetHoldCount: goes up with lock() and down with unlock()', () =>
    fair.getHoldCount())

  it('RedissonFairLockTest.testIsHeldByCurrentThreadOtherThread: one holds, another not', () =>
    fair.isHeldByCurrentThreadOtherThread())

  it('RedissonFairLockTest.testIsHeldByCurrentThread: only between lock() and unlock()', () =>
    fair.isHeldByCurrentThread())

  it('RedissonFairLockTest.testIsLockedOtherThread: locked is locked, for every thread', () =>
    fair.isLockedOtherThread())

  it('RedissonFairLockTest.testIsLocked: only between lock() and unlock()', () => fair.isLocked())

  it("RedissonFairLockTest.testUnlockFail: another thread's lock cannot be unlocked, and stays", () =>
    fair.unlockFail())

  it('RedissonFairLockTest.testLockUnlock: a lock can be taken again and again', () => fair.lockUnlock())

  it('RedissonFairLockTest.testReentrancy: one level released of two still keeps others out', () =>
    fair.reentrancy())

  it('RedissonFairLockTest.testConcurrency_SingleInstance: fifteen threads enter once each', () =>
    fair.singleInstance())

  it('RedissonFairLockTest.testConcurrencyLoop_MultiInstance: sixteen clients in a loop', () =>
    fair.loopMultiInstance())

  it('RedissonFairLockTest.testConcurrency_MultiInstance: a hundred clients each enter once', () =>
    fair.multiInstance())

  it('RedissonFairLockTest.testMultipleLocks: five hundred threads of one client each enter once', async () => {
    const redisson = await createRedisson()
    const name = uniqueName()
    let [inside, entered] = [0, 0]
    const thread = () =>
      redisson.run(async () => {
        const lock = redisson.getFairLock(name)
        await lock.lock(5_000)
        expect(++inside).to.equal(1)
        await sleep(1)
        inside--
        entered++
        await lock.unlock()
      })
    await Promise.all(Array.from({ length: 500 }, thread))
    expect(entered).to.equal(500)
  })

  it('RedissonFairLockTest.testNameMapper: the queue is under the mapped name', async () => {
    const redisson = await createRedisson({ nameMapper: { map: (name) => `test::${name}` } })
    const redis = await openRedis()
    const name = uniqueName()
    const { queue } = new ForeignFairLock(redis, `test::${name}`)
    const lock = redisson.getFairLock(name)
    expect(await lock.isLocked()).to.equal(false)
    await redisson.run(async () => {
      await lock.lock()
      expect(await lock.isLocked()).to.equal(true)
      const waiting = redisson.run(() => lock.lock(100))
      await waitUntil('it is in the mapped queue', async () => (await redis.llen(queue)) === 1)
      await lock.unlock()
      await waiting
    })
    await waitUntil('its lease has ended', async () => !(await lock.isLocked()), 2_000)
  })
})
