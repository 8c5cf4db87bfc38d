import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { sharedStandalone, type TcpProxy, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, timed, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { closeProxies, openProxy } from '../support/proxies'
import { latch, tapped } from '../support/tapped-transport'

describe('a server out of reach', () => {
  let redis: Redis
  let proxy: TcpProxy

  beforeEach(async () => {
    redis = await openRedis()
    proxy = await openProxy(await sharedStandalone())
  })

  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  function away() {
    proxy.refuse()
    proxy.cut()
  }

  it('guarantee 8: every call is answered with RedisUnavailableError after a while', async () => {
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
        timed(async () => expect((await rejection(call())).code).to.equal('REDIS_UNAVAILABLE')),
      ),
    )
    expect(Math.min(...took)).to.be.at.least(500)
    expect(Math.max(...took)).to.be.lessThan(5_000)
  })

  it('guarantee 8: a wait that is over sooner is answered then', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 30_000 })
    const lock = redisson.getLock(uniqueName())
    away()
    const took = await timed(async () =>
      expect((await rejection(lock.tryLock(200))).code).to.equal('REDIS_UNAVAILABLE'),
    )
    expect(took).to.be.within(199, 5_000)
  })

  it('guarantee 8: a waiter that slept when the server went is told too, and so are those behind it', async () => {
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

  it('guarantee 8: nothing is acquired in the name of a call that was told so', async () => {
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

  it('guarantee 8: a last unlock() is made up for in the background', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 500 })
    const other = await createRedisson()
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire({ leaseTime: 60_000 })
    const waiting = other.getLock(lock.getName()).acquire()
    await waitUntil(
      'the other waits',
      async () => (await new ForeignLock(redis, lock.getName()).listeners()) === 1,
    )
    away()
    expect((await rejection(hold.unlock())).code).to.equal('REDIS_UNAVAILABLE')
    expect(hold.isHeld).to.equal(false)
    expect(await redis.exists(lock.getName())).to.equal(1)
    await proxy.accept()
    // Long before its lease is over, and the waiters are told.
    expect(await timed(() => waiting)).to.be.lessThan(10_000)
    await (await waiting).unlock()
  })

  it('guarantee 2: a silent connection is cut within 10 s, and what was under way goes on', async () => {
    const state = { breaks: () => 0 }
    const redisson = await createRedisson(
      { redis: proxy.url },
      {
        transport: (transport) => {
          state.breaks = () => transport.breaks
          return tapped((sent) => sent.pass())(transport)
        },
      },
    )
    const lock = redisson.getLock(uniqueName())
    proxy.stall()
    const acquiring = lock.acquire()
    const present = proxy.connections
    const took = await timed(() => waitUntil('it connects anew', () => proxy.connections > present, 20_000))
    expect(took).to.be.lessThan(10_000)
    expect(state.breaks()).to.be.at.least(1)
    // What the old connection still carries arrives now as well, late.
    proxy.resume()
    const hold = await acquiring
    await sleep(200)
    expect(await redis.hvals(lock.getName())).to.deep.equal(['1'])
    await hold.unlock()
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('guarantee 4: an acquisition given up while under way is released as soon as it is answered', async () => {
    const [sent, answer] = [latch(), latch()]
    const transport = tapped(async (script) => {
      const value = await script.pass()
      if (script.name === 'lock/acquire') {
        sent.open()
        await answer.opened
      }
      return value
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName())
    const abort = new AbortController()
    const acquiring = rejection(lock.lock({ signal: abort.signal, leaseTime: 60_000 }))
    await sent.opened
    abort.abort(new Error('never mind'))
    expect((await acquiring).message).to.equal('never mind')
    answer.open()
    await waitUntil('it is given back', async () => (await redis.exists(lock.getName())) === 0)
  })
})
