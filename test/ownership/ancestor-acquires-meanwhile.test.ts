import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'

type Kind = (redisson: Redisson, name: string) => Pick<RLock, 'lock' | 'unlock'>

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a fenced lock': (redisson, name) => redisson.getFencedLock(name),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}

describe('A branch whose ancestor acquires meanwhile', () => {
  clientAndRedis()

  for (const [kind, make] of Object.entries(KINDS))
    it(`enters below it where its own re-entry of ${kind} was answered late (V134)`, async () => {
      const own = make(redisson, uniqueName('meanwhile'))
      const another = redisson.getLock(uniqueName('another'))
      await redisson.run(async () => {
        await own.lock(300)
        const branch = another.withLock(async () => {
          await sleep(200)
          await own.lock()
          await own.unlock()
          return 'entered'
        })
        await sleep(150)
        // The re-entry is answered when the lease is over, together with the next call of the parent.
        await redis.call('CLIENT', 'PAUSE', '400', 'ALL')
        await sleep(140)
        await own.lock()
        expect(await Promise.race([branch, sleep(5_000)])).to.equal('entered')
        await own.unlock()
      })
    })

  it('learns that it would wait for itself where its ancestor reads by now (V137)', async () => {
    const [redisson, other] = [await createRedisson(), await createRedisson()]
    const lock = redisson.getReadWriteLock(name)
    const writer = await other.getReadWriteLock(name).writeLock().acquire()
    await redisson.run(async () => {
      const reading = lock.readLock().lock()
      let isWaiting = false
      const branch = redisson.getLock(uniqueName('another')).withLock(async () => {
        setImmediate(() => {
          isWaiting = true
        })
        return await rejection(lock.writeLock().lock())
      })
      await waitUntil('the branch waits', () => isWaiting)
      await writer.unlock()
      await reading
      const error = await Promise.race([branch, sleep(5_000)])
      expect((error as { code?: string } | undefined)?.code).to.equal('ILLEGAL_MONITOR_STATE')
      await lock.readLock().unlock()
    })
  })
})
