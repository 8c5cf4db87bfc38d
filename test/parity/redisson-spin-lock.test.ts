import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'
import { stillPending } from '../kit/observing'
import { inCluster } from './in-cluster'
import { RLockChecks } from './rlock-checks'

/** Longer than the longest pause of the back-off. */
const PROMPTLY = 500

/** Redisson's own tests of the spin lock, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of spin locks", () => {
  clientAndRedis()
  const spin = new RLockChecks((redisson, name) => redisson.getSpinLock(name))

  it('RedissonSpinLockTest.testRedisFailed: a dead server is an error, no hang or false', () =>
    spin.redisFailed())

  it('RedissonSpinLockTest.testTryLockWait: the wait is as long as it was said', () => spin.tryLockWait())

  it('RedissonSpinLockTest.testLockUninterruptibly: waits on while others are aborted', () =>
    spin.lockUninterruptibly())

  it('RedissonSpinLockTest.testForceUnlock: the lock is free, through any object', () => spin.forceUnlock())

  it("RedissonSpinLockTest.testExpire: a waiter enters at the lease's end, unlock() fails", () =>
    spin.expire())

  it('RedissonSpinLockTest.testInCluster: locked and free again', async () => {
    await spin.isLocked(await inCluster())
  })

  it("RedissonSpinLockTest.testAutoExpire: a dead client's lock becomes free", () => spin.autoExpire())

  it('RedissonSpinLockTest.testGetHoldCount: goes up with lock() and down with unlock()', () =>
    spin.getHoldCount())

  it('RedissonSpinLockTest.testIsHeldByCurrentThreadOtherThread: one holds, another not', () =>
    spin.isHeldByCurrentThreadOtherThread())

  it('RedissonSpinLockTest.testIsHeldByCurrentThread: only between lock() and unlock()', () =>
    spin.isHeldByCurrentThread())

  it('RedissonSpinLockTest.testIsLockedOtherThread: locked is locked, for every thread', () =>
    spin.isLockedOtherThread())

  it('RedissonSpinLockTest.testIsLocked: only between lock() and unlock()', () => spin.isLocked())

  it("RedissonSpinLockTest.testUnlockFail: another thread's lock cannot be unlocked, and stays", () =>
    spin.unlockFail())

  it('RedissonSpinLockTest.testLockUnlock: a lock can be taken again and again', () => spin.lockUnlock())

  it('RedissonSpinLockTest.testReentrancy: one level released of two still keeps others out', () =>
    spin.reentrancy())

  it('RedissonSpinLockTest.testConcurrency_SingleInstance: fifteen threads enter once', () =>
    spin.singleInstance())

  it('RedissonSpinLockTest.testConcurrencyLoop_MultiInstance: sixteen clients in a loop', () =>
    spin.loopMultiInstance())

  it('RedissonSpinLockTest.testConcurrency_MultiInstance: a hundred clients each enter once', () =>
    spin.multiInstance())

  it('RedissonSpinLockTest.testTryLockAsync: lock() is pending until another releases', async () => {
    const lock = redisson.getSpinLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      const acquiring = redisson.run(() => lock.lock())
      expect(await stillPending(acquiring, 500)).to.equal(true)
      await lock.unlock()
      expect(await timed(() => acquiring)).to.be.below(PROMPTLY)
      expect(await lock.isLocked()).to.equal(true)
      await lock.forceUnlock()
    })
  })

  it('RedissonSpinLockTest.testTimedTryLockAsync: a waiting tryLock() is pending, then true', async () => {
    const lock = redisson.getSpinLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      const trying = redisson.run(() => lock.tryLock(5_000, 30_000))
      expect(await stillPending(trying, 300)).to.equal(true)
      await lock.unlock()
      expect(await timed(() => trying)).to.be.below(PROMPTLY)
      expect(await trying).to.equal(true)
      expect(await lock.remainTimeToLive()).to.be.within(29_000, 30_000)
      await lock.forceUnlock()
    })
  })

  it('RedissonSpinLockTest.testTryLockAsyncWaitTime: a tryLock() whose wait ends is false', async () => {
    const lock = redisson.getSpinLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      expect(await redisson.run(() => lock.tryLock(300, 30_000))).to.equal(false)
      await lock.forceUnlock()
    })
  })

  it('RedissonSpinLockTest.testTryLockAsyncFailed: tryLock() of a held lock is false', async () => {
    const lock = redisson.getSpinLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      expect(await redisson.run(() => lock.tryLock())).to.equal(false)
      await lock.unlock()
      await sleep(150)
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it('RedissonSpinLockTest.testTryLockAsyncSucceed: tryLock() of a free lock is true', async () => {
    const lock = (await createRedisson()).getSpinLock(uniqueName())
    expect(await lock.tryLock()).to.equal(true)
    await lock.unlock()
  })
})
