import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, type TcpProxy, waitUntil } from '../kit/servers/index'

describe('a server out of reach', () => {
  let proxy: TcpProxy

  redisAndName()
  beforeEach(async () => {
    proxy = await openProxy(await sharedStandalone())
  })

  function away() {
    proxy.breakOff()
  }

  it('Every call to an unreachable server rejects with RedisUnavailableError in time', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 700 })
    const lock = redisson.getLock(uniqueName())
    const hold = await redisson.getLock(uniqueName()).acquire({ leaseTime: 60_000 })
    away()
    const calls = {
      lock: () => lock.lock(),
      tryLock: () => redisson.getLock(uniqueName()).tryLock(),
      unlock: () => hold.unlock(),
      isLocked: () => lock.isLocked(),
      forceUnlock: () => lock.forceUnlock(),
    }
    const took = await Promise.all(
      Object.values(calls).map((call) =>
        timed(async () => {
          const { code, message } = await rejection(call())
          expect(code).to.equal('REDIS_UNAVAILABLE')
          expect(message).to.include(redisson.getId()).and.include(`test:${process.pid}`)
        }),
      ),
    )
    expect(Math.min(...took)).to.be.at.least(500)
    expect(Math.max(...took)).to.be.lessThan(5_000)
  })

  it('A call to an unreachable server rejects at the end of its own wait (guarantee 8)', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 30_000 })
    const lock = redisson.getLock(uniqueName())
    away()
    const took = await timed(async () =>
      expect((await rejection(lock.tryLock(200))).code).to.equal('REDIS_UNAVAILABLE'),
    )
    expect(took).to.be.within(199, 5_000)
  })

  it('A sleeping waiter rejects too when the server went away, and so do those behind it', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 700 })
    const waiting = Array.from({ length: 5 }, () => rejection(redisson.getLock(foreign.name).lock()))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    away()
    const took = await timed(() => Promise.all(waiting))
    expect((await Promise.all(waiting)).map(({ code }) => code)).to.deep.equal(
      Array(5).fill('REDIS_UNAVAILABLE'),
    )
    expect(took).to.be.lessThan(5_000)
  })

  it('A call that rejected with RedisUnavailableError acquires nothing later (guarantee 8)', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 500 })
    const lock = redisson.getLock(uniqueName())
    // The command is on its way when the silence begins, and arrives after it.
    proxy.stall()
    expect((await rejection(lock.lock())).code).to.equal('REDIS_UNAVAILABLE')
    proxy.resume()
    await waitUntil('the connection works again', async () => !(await lock.isLocked()))
    await waitUntil('the lock stays free', async () => (await redis.exists(lock.getName())) === 0)
    const hold = await lock.acquire()
    await hold.unlock()
  })

  it('A last unlock() that did not reach the server is retried in the background (guarantee 8)', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 500 })
    const other = await createRedisson()
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire({ leaseTime: 60_000 })
    const waiting = other.getLock(lock.getName()).acquire()
    await waitUntil(
      'the other waits',
      async () => (await new ForeignLock(redis, lock.getName()).listeners()) === 1,
    )
    const refused = new Promise((resolve) => redisson.on('error', resolve))
    away()
    // From here on nothing is handed to the connection any more, which would send it again by itself.
    await refused
    expect((await rejection(hold.unlock())).code).to.equal('REDIS_UNAVAILABLE')
    expect(hold.isHeld).to.equal(false)
    expect(await redis.exists(lock.getName())).to.equal(1)
    await proxy.accept()
    // Long before its lease is over, and the waiters are notified.
    expect(await timed(() => waiting)).to.be.lessThan(10_000)
    await (await waiting).unlock()
  })

  it('Silent connections are closed within 10 s, and their commands are sent again', async () => {
    const redisson = await createRedisson({ redis: proxy.url })
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    const present = proxy.connections
    proxy.stall()
    // No waiter is notified of this release; only the confirmation of a new subscription can wake the waiter.
    await foreign.vanish()
    const lock = redisson.getLock(uniqueName())
    const acquiring = lock.acquire()
    // One for commands and one for messages; the bound leaves two seconds for the way back.
    const took = await timed(() =>
      waitUntil('both connect anew', () => proxy.connections >= present + 2, 20_000),
    )
    expect(took).to.be.lessThan(12_000)
    // What the old connections still carry arrives now as well, late.
    proxy.resume()
    const hold = await acquiring
    expect(await timed(() => waiting)).to.be.lessThan(5_000)
    await sleep(200)
    expect(await redis.hvals(lock.getName())).to.deep.equal(['1'])
    await hold.unlock()
    expect(await redis.exists(lock.getName())).to.equal(0)
    await (await waiting).unlock()
  })
})
