import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { RedisUnavailableError, type RLock } from '../../src/index'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, startStandalone, type TcpProxy, waitUntil } from '../kit/servers/index'

/** How long past its wait a call still takes the answer to a try under way. */
const GRACE = 1_000
const SLACK = 3_000

describe('A server that does not answer', () => {
  let proxy: TcpProxy

  beforeEach(async () => {
    proxy = await openProxy(await sharedStandalone())
  })

  async function expectUnavailable(call: () => Promise<unknown>, after: number) {
    let error = new Error()
    const took = await timed(async () => {
      error = await rejection(call())
    })
    expect(error).to.be.instanceOf(RedisUnavailableError)
    expect(took).to.be.within(after - 1, after + GRACE + SLACK)
  }

  const asking: Record<string, [number, (lock: RLock) => Promise<unknown>]> = {
    'tryLock()': [0, (lock) => lock.tryLock()],
    'tryLock(500)': [500, (lock) => lock.tryLock(500)],
    'tryAcquire()': [0, (lock) => lock.tryAcquire()],
    'tryAcquire({ waitTime })': [500, (lock) => lock.tryAcquire({ waitTime: 500 })],
  }

  for (const [what, [after, call]] of Object.entries(asking))
    it(`${what} of a free lock of every kind rejects at its wait on a silent server`, async () => {
      const redisson = await createRedisson({ redis: proxy.url })
      const name = uniqueName()
      const locks = [
        redisson.getLock(`${name}:plain`),
        redisson.getReadWriteLock(`${name}:write`).writeLock(),
        redisson.getReadWriteLock(`${name}:read`).readLock(),
      ]
      // Scripts and connection work.
      for (const lock of locks) await lock.withLock(() => {})
      proxy.stall()
      await Promise.all(
        locks.flatMap((lock) => [1, 2, 3].map(() => expectUnavailable(() => call(lock), after))),
      )
      proxy.resume()
      // What was under way arrives late, and is released.
      const redis = await openRedis()
      await waitUntil('all are free', async () => {
        await Promise.all(locks.map((lock) => lock.isLocked()))
        return (await redis.keys(`*${name}*`)).length === 0
      })
    })

  it('A try rejects while the process of the server is stopped', async () => {
    const server = await startStandalone()
    try {
      const redisson = await createRedisson({ redis: server.url })
      const lock = redisson.getLock(uniqueName())
      await lock.withLock(() => {})
      await server.pause()
      await Promise.all([
        expectUnavailable(() => lock.tryLock(), 0),
        expectUnavailable(() => lock.tryLock(1_000), 1_000),
        expectUnavailable(() => redisson.getLock(uniqueName()).tryLock(1_000), 1_000),
      ])
      await server.resume()
    } finally {
      await server.resume()
      await server.stop()
    }
  })

  it('A try rejects where the server said held, but was silent for some seconds since', async () => {
    const foreign = new ForeignLock(await openRedis(), uniqueName())
    const redisson = await createRedisson({ redis: proxy.url })
    await foreign.take(400)
    const trying = redisson.getLock(foreign.name).tryLock(3_000)
    const behind = redisson.getLock(foreign.name).tryLock(3_700)
    behind.catch(() => {})
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    proxy.stall()
    expect((await rejection(trying)).code).to.equal('REDIS_UNAVAILABLE')
    expect((await rejection(behind)).code).to.equal('REDIS_UNAVAILABLE')
  })

  it('A call without a wait rejects where the server accepts and answers nothing (V174)', async () => {
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 1_000 })
    const lock = redisson.getLock(uniqueName())
    await lock.withLock(() => {})
    proxy.stall()
    proxy.cut()
    await waitUntil('it has connected again', () => proxy.connections > 0)
    for (const call of [() => lock.lock(), () => redisson.getSemaphore(uniqueName()).acquire()])
      await expectUnavailable(call, 1_000)
    proxy.resume()
    await lock.withLock(() => {})
  })

  it('A try answers false if the last answer was held, and no other try is in flight', async () => {
    const foreign = new ForeignLock(await openRedis(), uniqueName())
    const redisson = await createRedisson({ redis: proxy.url })
    const lock = redisson.getLock(foreign.name)
    await foreign.take(60_000)
    const first = lock.tryLock(700)
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    proxy.stall()
    expect(await timed(async () => expect(await lock.tryLock()).to.equal(false))).to.be.below(GRACE)
    expect(await lock.tryLock(300)).to.equal(false)
    expect(await first).to.equal(false)
  })

  it('One of several tries acquires after a slow round trip, and the others answer false', async () => {
    const redisson = await createRedisson({ redis: proxy.url })
    proxy.delay(100)
    for (const wait of [0, 20]) {
      const lock = redisson.getLock(uniqueName())
      const took = await timed(async () => {
        const answers = await Promise.all([1, 2, 3, 4].map(() => lock.tryLock(wait)))
        expect(answers).to.deep.equal([true, false, false, false])
      })
      expect(took).to.be.below(GRACE)
    }
  })
})
