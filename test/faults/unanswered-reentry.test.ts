import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'

describe('An outage in the middle of a re-entry', () => {
  it('An unanswered re-entry that outlives its hold does not leave the key for its lease', async () => {
    const server = await sharedStandalone()
    const redis = await openRedis(server.url)
    const proxy = await openProxy(server)
    const redisson = await createRedisson(
      { redis: `redis://127.0.0.1:${proxy.port}` },
      { unavailableAfter: 1_000 },
    )
    const name = uniqueName('re-entry')
    const lock = redisson.getLock(name)
    await redisson.run(() =>
      redisson
        .getLock(uniqueName())
        .withLock(({ lockName }) => redisson.getLock(lockName).withLock(() => {})),
    )
    await redisson.run(async () => {
      const outer = await lock.acquire({ leaseTime: 500 })
      proxy.stallReplies()
      expect(await rejection(lock.acquire({ leaseTime: 60_000 }))).to.include({ code: 'REDIS_UNAVAILABLE' })
      proxy.resume()
      expect(await rejection(outer.unlock())).to.include({ code: 'LOCK_LOST' })
    })
    await waitUntil('the key is released', async () => (await redis.exists(name)) === 0, 15_000)
  })

  it('A hold whose deadline moved does not hide the deadline of the one behind it (guarantee 5)', async () => {
    const server = await sharedStandalone()
    const proxy = await openProxy(server)
    const redisson = await createRedisson({
      redis: `redis://127.0.0.1:${proxy.port}`,
      lockWatchdogTimeout: 3_000,
    })
    const other = await createRedisson({ redis: server.url })
    const names = [uniqueName('moved'), uniqueName('behind')] as const
    await redisson.run(async () => {
      await redisson.getLock(names[0]).acquire()
      const { signal } = await redisson.getLock(names[1]).acquire()
      await sleep(850)
      await redisson.getLock(names[0]).acquire()
      proxy.stallReplies()
      await (await other.getLock(names[1]).acquire()).unlock()
      expect(signal.aborted, 'reported before another is inside').to.equal(true)
      proxy.resume()
    })
  })
})
