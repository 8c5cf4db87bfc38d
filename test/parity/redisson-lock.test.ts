import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { redisson } from '../kit/each-test'
import { rlockFailureTests, rlockTests } from './rlock-tests'

/**
 * Redisson's own tests of RLock, asked of ours: one here for each there, by its name. Java's threads are
 * `redisson.run` scopes. Times are shorter where they only have to be longer than something.
 * What has no counterpart stands in test/unit/redisson-tests.test.ts.
 */
describe("Redisson's tests of one lock", () => {
  rlockTests('RedissonLockTest', (redisson, name) => redisson.getLock(name))
  rlockFailureTests('RedissonLockTest', (redisson, name) => redisson.getLock(name))

  it('RedissonLockTest.testLockIsNotRenewedAfterInterruptedTryLock: nothing held', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 300 })
    const lock = redisson.getLock(uniqueName())
    let aborted = 0
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const trying = redisson.run(() => lock.tryLock({ signal: controller.signal }))
      // The command is on its way by then, and may or may not have been answered.
      setImmediate(() => controller.abort())
      await trying.then(
        (held) => redisson.run(async () => (held ? lock.forceUnlock() : undefined)),
        (error) => {
          expect(error).to.have.property('name', 'AbortError')
          aborted++
        },
      )
    }
    expect(aborted).to.be.greaterThan(0)
    await sleep(700)
    expect(await lock.isLocked()).to.equal(false)
  })

  it('RedissonLockTest.testRemainTimeToLive2: a partial release keeps the asked lease', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      for (let i = 0; i < 3; i++) await lock.lock(10, TimeUnit.SECONDS)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.remainTimeToLive()).to.be.within(9_000, 10_000)
      await lock.unlock()
    })
  })

  it('RedissonLockTest.testRemainTimeToLive: a lease, no key, and the watchdog timeout', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName('test-lock:1'))
      const hour = TimeUnit.HOURS.toMillis(1)
      await lock.lock(1, TimeUnit.HOURS)
      expect(await lock.remainTimeToLive()).to.be.within(hour - 100, hour)
      await lock.unlock()
      expect(await lock.remainTimeToLive()).to.equal(-2)
      await lock.lock()
      expect(await lock.remainTimeToLive()).to.be.within(29_900, 30_000)
      await lock.unlock()
    })
  })
})
