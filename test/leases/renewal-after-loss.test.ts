import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { IllegalMonitorStateError, type Redisson } from '../../src/index'
import { openRedis, rejection } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'
import { ownServer } from '../kit/servers/index'

const WATCHDOG_MS = 500

/** Three tests of Redisson's that restart the server without its data, and one that re-enters. */
describe('Renewal of what a thread acquires again', () => {
  const server = ownServer()

  clientAndRedis('test', { server, lockWatchdogTimeout: WATCHDOG_MS, lockWatchdogBatchSize: 50 })

  for (const [kind, get, rounds] of [
    ['lock', (redisson: Redisson) => redisson.getLock('LOCK_KEY'), 1],
    ['read lock', (redisson: Redisson) => redisson.getReadWriteLock('LOCK_KEY').readLock(), 1],
    ['write lock', (redisson: Redisson) => redisson.getReadWriteLock('LOCK_KEY').writeLock(), 2],
  ] as const)
    it(`A ${kind} that its thread acquires again after a loss is renewed`, async () => {
      const lock = () => get(redisson)
      await redisson.run(async () => {
        await lock().lock()
        await server.restart({ keepData: false })
        await sleep(WATCHDOG_MS * 1.5)
        expect(await rejection(lock().unlock())).to.be.instanceOf(IllegalMonitorStateError)
        for (let round = 0; round < rounds; round++) {
          await lock().lock()
          await sleep(WATCHDOG_MS * 1.5)
          expect(await lock().isHeldByCurrentThread()).to.equal(true)
          await lock().unlock()
          expect(await lock().isLocked()).to.equal(false)
        }
      })
    })

  it('A lock that is acquired after two levels were released is renewed', async () => {
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
})
