import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import type { LockOf } from './rlock-checks'

/** What Redisson's tests ask alike of the two kinds that their holder cannot take again. */
class NonReentrantChecks {
  constructor(private readonly lockOf: LockOf) {}

  async contendingThread(): Promise<void> {
    const redisson = await createRedisson()
    const lock = this.lockOf(redisson, uniqueName())
    let entered = false
    let waiting: Promise<void> | undefined
    await redisson.run(async () => {
      await lock.lock()
      waiting = redisson.run(async () => {
        await lock.lock()
        entered = true
        await lock.unlock()
      })
      await sleep(200)
      expect(entered).to.equal(false)
      await lock.unlock()
    })
    await waiting
    expect(entered).to.equal(true)
    expect(await lock.isLocked()).to.equal(false)
  }

  async sameThread(): Promise<void> {
    const redisson = await createRedisson()
    const lock = this.lockOf(redisson, uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      for (const again of [() => lock.lock(), () => lock.tryLock(), () => lock.tryLock(100)])
        expect(await rejection(again())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  }

  async crossInstance(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    const [a, b] = [this.lockOf(redisson, name), this.lockOf(redisson, name)]
    expect(a).to.not.equal(b)
    await redisson.run(async () => {
      await a.lock()
      for (const again of [() => b.lock(), () => b.tryLock()])
        expect(await rejection(again())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await b.isHeldByCurrentThread()).to.equal(true)
      await a.unlock()
      expect([await a.isLocked(), await b.isLocked()]).to.deep.equal([false, false])
    })
  }
}

/** Redisson's own tests of these kinds, asked of ours, as those of RLock. */
describe("Redisson's tests of non-reentrant and fenced locks", () => {
  const plain = new NonReentrantChecks((redisson, name) => redisson.getNonReentrantLock(name))
  const fair = new NonReentrantChecks((redisson, name) => redisson.getNonReentrantFairLock(name))

  it('RedissonNonReentrantLockTest.testSameThreadReacquireThrows: the holder is refused', () =>
    plain.sameThread())

  it('RedissonNonReentrantLockTest.testCrossInstanceSameThreadReentryThrows: any object', () =>
    plain.crossInstance())

  it('RedissonNonReentrantLockTest.testContendingThreadBlocksAndAcquiresOnRelease: waits', () =>
    plain.contendingThread())

  it('RedissonNonReentrantFairLockTest.testSameThreadReacquireThrows: holder is refused', () =>
    fair.sameThread())

  it('RedissonNonReentrantFairLockTest.testCrossInstanceSameThreadReentryThrows: any object', () =>
    fair.crossInstance())

  it('RedissonNonReentrantFairLockTest.testContendingThreadBlocksAndAcquiresOnRelease: ok', () =>
    fair.contendingThread())

  it('RedissonFencedLockTest.testTokenIncrease: each acquisition draws the next token', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getFencedLock(uniqueName())
    await redisson.run(async () => {
      for (const token of [1, 2]) {
        expect(await lock.lockAndGetToken()).to.equal(token)
        await lock.unlock()
      }
      await lock.lock()
      expect(await lock.getToken()).to.equal(3)
      await lock.unlock()
      await lock.lock(10, TimeUnit.SECONDS)
      expect(await lock.getToken()).to.equal(4)
      await lock.unlock()
      expect(await lock.tryLockAndGetToken()).to.equal(5)
      await lock.unlock()
    })
  })
})
