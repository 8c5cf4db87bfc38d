import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { name, redisson } from '../kit/each-test'
import { stillPending } from '../kit/observing'
import { inCluster } from './in-cluster'
import { isLockedWhileHeld, type LockOf, rlockFailureTests, rlockTests } from './rlock-tests'

/** Longer than the longest pause of the back-off. */
const PROMPTLY = 500

/** Redisson's own tests of the spin lock, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of spin locks", () => {
  const spin: LockOf = (redisson, name) => redisson.getSpinLock(name)
  rlockTests('RedissonSpinLockTest', spin)
  rlockFailureTests('RedissonSpinLockTest', spin)

  it('RedissonSpinLockTest.testInCluster: locked and free again', async () => {
    const redisson = await inCluster()
    await isLockedWhileHeld(redisson, spin(redisson, name))
  })

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
