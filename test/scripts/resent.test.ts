import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { sharedStandalone, type TcpProxy, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { closeProxies, openProxy } from '../support/proxies'
import { queueSleeps } from '../support/queues'
import { tapped } from '../support/tapped-transport'

describe('a command whose reply is lost, and which is sent again', () => {
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

  /** A client behind the proxy whose scripts the server knows already. */
  async function clientBehindProxy() {
    const redisson = await createRedisson({ redis: proxy.url })
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      await lock.lock()
      await lock.lock()
      await lock.unlock()
      await lock.unlock()
    })
    return redisson
  }

  const onKey = (name: string) => (words: readonly string[]) => words[0] === 'evalsha' && words.includes(name)

  it('atlas C1: a release answers like the first time', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    await lock.lock()
    const dropped = proxy.dropNextReply(onKey(lock.getName()))
    await lock.unlock()
    await dropped
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('atlas C1: a partial release takes one level off, not two', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      for (let level = 0; level < 3; level++) await lock.lock()
      const dropped = proxy.dropNextReply(onKey(lock.getName()))
      await lock.unlock()
      await dropped
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('atlas C1: a release leaves alone whoever took the lock before it was sent again', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    await lock.lock()
    const waiting = (await createRedisson()).getLock(lock.getName()).acquire()
    const dropped = proxy.dropNextReply(onKey(lock.getName()))
    proxy.refuse()
    const unlocking = lock.unlock()
    await dropped
    const next = await waiting
    await proxy.accept()
    await unlocking
    expect(await redis.hlen(lock.getName())).to.equal(1)
    await next.unlock()
  })

  it('atlas C2: an acquisition counts once', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    const dropped = proxy.dropNextReply(onKey(lock.getName()))
    await lock.lock()
    await dropped
    expect(await redis.hvals(lock.getName())).to.deep.equal(['1'])
    await lock.unlock()
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('atlas C2: a re-entry counts once', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      const dropped = proxy.dropNextReply(onKey(lock.getName()))
      await lock.lock()
      await dropped
      expect(await redis.hvals(lock.getName())).to.deep.equal(['2'])
      await lock.unlock()
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('guarantee 4: an acquisition aborted before its lost reply was made up for is given back', async () => {
    const redisson = await clientBehindProxy()
    const name = uniqueName()
    const abort = new AbortController()
    const dropped = proxy.dropNextReply(onKey(name))
    proxy.refuse()
    const acquiring = rejection(redisson.getLock(name).lock({ signal: abort.signal }))
    await dropped
    abort.abort(new Error('too slow'))
    expect((await acquiring).message).to.equal('too slow')
    expect(await redis.exists(name)).to.equal(1)
    await proxy.accept()
    await waitUntil('it is given back', async () => (await redis.exists(name)) === 0)
  })

  it('guarantee 4: a release fails where the hold had gone for another reason', async () => {
    const redisson = await clientBehindProxy()
    const lock = redisson.getLock(uniqueName())
    await lock.lock()
    await redis.del(lock.getName())
    expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
  })
})

describe('a late copy of an old command', () => {
  afterEach(closeAll)

  /** A client that keeps a second copy of everything it sends. */
  async function copying() {
    const copies: { name: string; send: () => Promise<unknown> }[] = []
    const transport = tapped((sent) => {
      if (!sent.bySource) copies.push({ name: sent.name, send: sent.pass })
      return sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    return { redisson, copies }
  }

  it('guarantee 4: of an attempt in vain, arriving after the hold that came of a later one, is given back', async () => {
    const kept: (() => Promise<unknown>)[] = []
    const transport = tapped((sent) => {
      if (sent.name !== 'lock/acquire' || sent.bySource || kept.length > 0) return sent.pass()
      kept.push(sent.pass)
      return Promise.reject(new Error('Connection is closed.'))
    })
    const redis = await openRedis()
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const redisson = await createRedisson({}, { transport })
    const acquiring = redisson.getLock(foreign.name).acquire()
    await queueSleeps(redisson, foreign.name, 1)
    await foreign.release()
    await (await acquiring).unlock()
    expect(await kept[0]!()).to.equal(null)
    expect(await redis.exists(foreign.name)).to.equal(1)
    await waitUntil('it is given back', async () => (await redis.exists(foreign.name)) === 0)
  })

  it("guarantee 4: changes nothing of another's hold", async () => {
    const { redisson, copies } = await copying()
    const redis = await openRedis()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock(20_000)
      await lock.lock()
      await lock.unlock()
      await lock.unlock()
    })
    expect(copies.map(({ name }) => name)).to.deep.equal([
      'lock/acquire',
      'lock/reenter',
      'lock/release',
      'lock/release',
    ])
    const next = new ForeignLock(redis, lock.getName())
    await next.take(60_000)
    const before = await redis.hgetall(lock.getName())
    let messages = 0
    const listener = await openRedis()
    await listener.subscribe(next.channel)
    listener.on('message', () => messages++)
    for (const { send } of copies) await send()
    for (const { send } of copies.reverse()) await send()
    expect(await redis.hgetall(lock.getName())).to.deep.equal(before)
    expect(await redis.pttl(lock.getName())).to.be.greaterThan(50_000)
    await sleep(50)
    expect(messages).to.equal(0)
  })

  it('guarantee 4: changes nothing of a newer hold of the same caller', async () => {
    const { redisson, copies } = await copying()
    const redis = await openRedis()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.unlock()
      const old = copies.splice(0)
      await lock.lock(60_000)
      for (const { send } of old.reverse()) await send()
      expect(await redis.hvals(lock.getName())).to.deep.equal(['1'])
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('guarantee 4: leaves the count of its own hold right in the end', async () => {
    const { redisson, copies } = await copying()
    const redis = await openRedis()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      await lock.unlock()
      // Acquire, re-entry and partial release, once more and in every order.
      const [acquire, reenter, release] = copies as [Copy, Copy, Copy]
      for (const copy of [reenter, acquire, release, reenter, release, acquire, reenter]) await copy.send()
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.lock()
      expect(await lock.getHoldCount()).to.equal(2)
      await release.send()
      await lock.unlock()
      expect(await lock.getHoldCount()).to.equal(1)
      await reenter.send()
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  const sides = {
    lock: (redisson: Redisson, name: string) => redisson.getLock(name),
    'read lock': (redisson: Redisson, name: string) => redisson.getReadWriteLock(name).readLock(),
    'write lock': (redisson: Redisson, name: string) => redisson.getReadWriteLock(name).writeLock(),
  }
  for (const [kind, side] of Object.entries(sides))
    it(`guarantee 4: shortens no lease that a newer level of its ${kind} was promised`, async () => {
      const { redisson, copies } = await copying()
      const redis = await openRedis()
      const name = uniqueName()
      const lock = side(redisson, name)
      await redisson.run(async () => {
        await lock.lock(20_000)
        // The same lease twice: nothing but time tells the copy's level from the newer one.
        await lock.lock(60_000)
        await lock.unlock()
        const late = copies.find((copy) => copy.name.endsWith('release'))!
        await sleep(20)
        await lock.lock(60_000)
        await late.send()
        expect(await redis.pttl(name)).to.be.greaterThan(50_000)
        await lock.unlock()
        // Longer than the copy's lease, shorter than the one the copy had seen.
        await lock.lock(30_000)
        await late.send()
        expect(await redis.pttl(name)).to.be.greaterThan(25_000)
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        expect(await redis.pttl(name)).to.be.at.most(20_000)
        expect(await lock.getHoldCount()).to.equal(1)
        await lock.unlock()
      })
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    })

  type Copy = { name: string; send: () => Promise<unknown> }
})
