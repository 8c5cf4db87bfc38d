import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, rejection, uniqueName } from '../kit/clients'

/** Redisson's own tests of the two kinds, asked of ours, as those of RLock. */
describe("Redisson's tests of non-reentrant and fenced locks", () => {
  afterEach(closeAll)

  it('RedissonNonReentrantLockTest.testSameThreadReacquireThrows: a thread that holds the lock is refused', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getNonReentrantLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      expect(await rejection(lock.lock())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await rejection(lock.tryLock())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it('RedissonNonReentrantLockTest.testCrossInstanceSameThreadReentryThrows: so it is through another object', async () => {
    const redisson = await createRedisson()
    const name = uniqueName()
    await redisson.run(async () => {
      await redisson.getNonReentrantLock(name).lock()
      const error = await rejection(redisson.getNonReentrantLock(name).lock())
      expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      await redisson.getNonReentrantLock(name).unlock()
    })
  })

  it('RedissonNonReentrantLockTest.testContendingThreadBlocksAndAcquiresOnRelease: another thread waits, and gets it', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getNonReentrantLock(uniqueName())
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
  })

  it('RedissonFencedLockTest.testTokenIncrease: each acquisition draws the next token', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getFencedLock(uniqueName())
    await redisson.run(async () => {
      const first = await lock.lockAndGetToken()
      expect(first).to.equal(1)
      await lock.unlock()
      expect(await lock.getToken()).to.equal(1)
      await lock.lock()
      expect(await lock.getToken()).to.equal(2)
      await lock.unlock()
      await lock.lock()
      await lock.unlock()
      expect(await lock.tryLockAndGetToken()).to.equal(4)
      await lock.unlock()
    })
  })
})
