import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { clientAndRedis } from '../kit/each-test'
import { nonReentrantTests } from './rlock-tests'

/** Redisson's own tests of these kinds, asked of ours, as those of RLock. */
describe("Redisson's tests of non-reentrant and fenced locks", () => {
  clientAndRedis()
  nonReentrantTests('RedissonNonReentrantLockTest', (redisson, name) => redisson.getNonReentrantLock(name))
  nonReentrantTests('RedissonNonReentrantFairLockTest', (redisson, name) =>
    redisson.getNonReentrantFairLock(name),
  )

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
