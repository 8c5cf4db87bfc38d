import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { IllegalMonitorStateError, type RLock } from '../../src/index'
import { openRedis, rejection } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'
import { ownServer } from '../kit/servers/index'

const WATCHDOG_MS = 500

/** Redisson's own tests of renewal, the server restarted without its data amid them; see redisson-lock.test.ts. */
describe("Redisson's tests of the renewal of leases", () => {
  const server = ownServer()

  clientAndRedis('test', { server, lockWatchdogTimeout: WATCHDOG_MS, lockWatchdogBatchSize: 50 })

  it('RedissonLockExpirationRenewalTest.testLockAfterTimeout: renewed after a loss', () =>
    renewedAfterLoss(() => redisson.getLock('LOCK_KEY'), 1))

  it('RedissonLockExpirationRenewalTest.testReadLockAfterTimeout: renewed after a loss', () =>
    renewedAfterLoss(() => redisson.getReadWriteLock('LOCK_KEY').readLock(), 1))

  it('RedissonLockExpirationRenewalTest.testWriteLockAfterTimeout: renewed after a loss', () =>
    renewedAfterLoss(() => redisson.getReadWriteLock('LOCK_KEY').writeLock(), 2))

  // There the thread spins; here the loop must turn, and does so at leisure.
  it('RedissonLockExpirationRenewalTest.testLockReentrantRenew: renewed after re-entry', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock('LOCK_KEY')
      await lock.lock()
      await lock.lock()
      await lock.unlock()
      await lock.unlock()
    })
    await redisson.run(() => redisson.getLock('LOCK_KEY').lock())
    await sleep(WATCHDOG_MS * 3)
    expect(await (await openRedis(server.url)).exists('LOCK_KEY')).to.equal(1)
  })

  async function renewedAfterLoss(get: () => RLock, rounds: number): Promise<void> {
    await redisson.run(async () => {
      await get().lock()
      await server.restart({ keepData: false })
      await sleep(WATCHDOG_MS * 1.5)
      expect(await rejection(get().unlock())).to.be.instanceOf(IllegalMonitorStateError)
      for (let round = 0; round < rounds; round++) {
        await get().lock()
        await sleep(WATCHDOG_MS * 1.5)
        expect(await get().isHeldByCurrentThread()).to.equal(true)
        await get().unlock()
        expect(await get().isLocked()).to.equal(false)
      }
    })
  }
})
