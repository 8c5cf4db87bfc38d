import { inspect } from 'node:util'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { printedInEachTest } from '../kit/printed'
import { openProxy } from '../kit/proxies'
import { ownServer, waitUntil } from '../kit/servers/index'
import { VirtualClock } from '../kit/virtual-clock'

/** Everything a logger could make of a value. */
function shown(value: unknown): string {
  const { message, stack, cause } = (value ?? {}) as Error
  const texts = [inspect(value, { depth: 10 }), String(value), message, stack, inspect(cause, { depth: 10 })]
  try {
    texts.push(JSON.stringify(value))
  } catch {}
  return texts.join('\n')
}

describe('A token of a token lock appears in no event, error, warning or log', () => {
  const server = ownServer()
  const tokens = new Set<string>()

  redisAndName('secret', { server })
  const seen = printedInEachTest(shown)
  beforeEach(() => tokens.clear())
  afterEach(() => {
    expect(tokens.size).to.be.greaterThan(0)
    const text = seen.join('\n')
    expect(text).to.have.length.greaterThan(0)
    // A part of it would do harm, too.
    for (const token of tokens) expect(text.includes(token.slice(0, 16)), 'a token is shown').to.equal(false)
  })

  const see = (...values: unknown[]) => seen.push(...values.map(shown))

  async function keepToken() {
    const token = await redis.get(name)
    if (token) tokens.add(token)
  }

  function watched(redisson: Redisson): Redisson {
    for (const event of ['error', 'lockLost', 'renewalFailed'] as const)
      redisson.on(event, (payload: unknown) => see(payload))
    return redisson
  }

  it('A token is not shown when the client, the lock, a hold or its loss is logged (K)', async () => {
    const redisson = watched(await createRedisson({ redis: server.url }))
    const lock = redisson.getTokenLock(name)
    const hold = await lock.acquire()
    await keepToken()
    const again = await rejection(redisson.run(() => lock.unlock()))
    see(redisson, lock, hold, again)
    expect(inspect(lock)).to.equal(`TokenLock("${name}")`)
    expect(await lock.forceUnlock()).to.equal(true)
    see(hold.signal.reason, hold, await rejection(hold.unlock()), await rejection(hold.unlock()))
    await redisson.run(async () => {
      await lock.lock()
      await keepToken()
      see(await rejection(lock.lock()))
      await redis.del(name)
      see(await rejection(lock.unlock()))
    })
  })

  it('A token is not shown when the server refuses the scripts, their commands or a message (K)', async () => {
    await redis.call('ACL', 'SETUSER', 'shaky', 'on', '>secret', '~*', '&*', '+@all')
    const url = server.url.replace('redis://', 'redis://shaky:secret@')
    const redisson = watched(await createRedisson({ redis: url, lockWatchdogTimeout: 1_500 }))
    const lock = redisson.getTokenLock(name)
    for (const refused of ['-evalsha', '-get', '-del', '-set', '-publish', '-pexpire']) {
      const hold = await lock.acquire()
      await keepToken()
      await redis.call('ACL', 'SETUSER', 'shaky', refused)
      const error = await hold.unlock().catch((thrown) => thrown)
      see(error, await lock.tryLock(50).catch((thrown) => thrown))
      await keepToken()
      await redis.call('ACL', 'SETUSER', 'shaky', refused.replace('-', '+'))
      await redis.del(name)
    }
    const hold = await lock.acquire()
    await keepToken()
    await redis.call('ACL', 'SETUSER', 'shaky', '-evalsha')
    await waitUntil('a renewal failed', () => hold.signal.aborted, 5_000)
    await redis.call('ACL', 'SETUSER', 'shaky', '+evalsha')
  })

  it('A token is not shown when the server is away, or the key holds something else (K)', async () => {
    const proxy = await openProxy(server)
    const redisson = watched(await createRedisson({ redis: proxy.url }, { unavailableAfter: 300 }))
    const lock = redisson.getTokenLock(name)
    await lock.lock()
    await keepToken()
    proxy.breakOff()
    see(await rejection(lock.unlock()), await rejection(lock.lock()), await rejection(lock.isLocked()))
    await proxy.accept()
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0, 10_000)
    const hold = await lock.acquire()
    await keepToken()
    await redis.del(name)
    await redis.lpush(name, 'data')
    see(await rejection(hold.unlock()), await rejection(lock.lock()))
  })

  it('A token is not shown by the warning of a waiter behind a key without expiry (K)', async () => {
    const holder = watched(await createRedisson({ redis: server.url }))
    const clock = new VirtualClock()
    const waiting = watched(await createRedisson({ redis: server.url }, { clock }))
    const warned = (code: string) => () => seen.some((text) => text.includes(code))
    await holder.run(async () => {
      const hold = await holder.getTokenLock(name).acquire()
      await keepToken()
      const trying = waiting.getTokenLock(name).tryLock(30_000)
      const passing = setInterval(() => clock.advance(500), 10)
      try {
        await redis.persist(name)
        await waitUntil('it is warned of no expiry', warned('RLOCK_NO_EXPIRY'))
      } finally {
        clearInterval(passing)
      }
      await hold.unlock()
      clock.advance(1_000)
      expect(await trying).to.equal(true)
    })
    const local = await waiting.getTokenLock(name).tryAcquire()
    see(local, waiting)
  })
})
