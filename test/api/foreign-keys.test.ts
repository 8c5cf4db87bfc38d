import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { IllegalMonitorStateError, WrongTypeError } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { expectHandledRejections } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'

const FOREIGN: [string, (redis: Redis, key: string) => Promise<unknown>][] = [
  ['a string', (redis, key) => redis.set(key, 'theirs')],
  ['a string with an expiry', (redis, key) => redis.set(key, 'theirs', 'PX', 60_000)],
  ['a list', (redis, key) => redis.rpush(key, 'a', 'b')],
  ['a set', (redis, key) => redis.sadd(key, 'a')],
  ['a sorted set', (redis, key) => redis.zadd(key, 1, 'a')],
  ['a stream', (redis, key) => redis.xadd(key, '*', 'a', 'b')],
  ["somebody's read lock", (redis, key) => redis.hset(key, 'mode', 'read', 'java:1', 1)],
  ["somebody's write lock", (redis, key) => redis.hset(key, 'mode', 'write', 'java:1:write', 1)],
]

describe('A key that holds no plain lock', () => {
  clientAndRedis('foreign')
  afterEach(async () => {
    await redis.del(name)
  })
  expectHandledRejections()

  /** The value and its expiry, as Redis itself would copy them. */
  const contents = async () => [await redis.dumpBuffer(name), (await redis.pttl(name)) > 0]

  for (const [title, make] of FOREIGN) {
    it(`A key that holds no lock (${title}) is a WrongTypeError to every call`, async () => {
      await make(redis, name)
      const before = await contents()
      for (const call of [
        () => lock.lock(),
        () => lock.lock(1_000),
        () => lock.lock({ threadId: 1 }),
        () => lock.tryLock(),
        () => lock.tryLock(20_000),
        () => lock.tryLock(20_000, 1_000),
        () => lock.acquire(),
        () => lock.tryAcquire({ waitTime: 20_000 }),
        () => lock.withLock(() => {}),
        () => redisson.run(() => lock.lock()),
        () => lock.forceUnlock(),
        () => lock.isLocked(),
        () => lock.remainTimeToLive(),
      ]) {
        const error = await rejection(call())
        expect(error, String(call)).to.be.instanceOf(WrongTypeError)
        expect(error.code).to.equal('WRONG_TYPE')
        expect(error.message).to.include(name)
      }
      expect(await contents()).to.deep.equal(before)
    })

    it(`A key that holds no lock (${title}): unlock() without a hold rejects and sends nothing`, async () => {
      await make(redis, name)
      const before = await contents()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
      expect(await contents()).to.deep.equal(before)
    })

    it(`A key that holds no lock (${title}) is neither renewed, counted nor deleted`, async () => {
      const brief = await createRedisson({ lockWatchdogTimeout: 1_500 })
      const lock = brief.getLock(name)
      const lost = new Promise<unknown>((resolve) => brief.on('lockLost', resolve))
      await brief.run(async () => {
        await lock.lock()
        await redis.del(name)
        await make(redis, name)
        const before = await contents()
        // The next renewal finds it, though other keys in its batch are fine.
        expect(await lost).to.include({ lockName: name, reason: 'gone' })
        expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
        expect(await contents()).to.deep.equal(before)
      })
    })

    it(`A key that holds no lock (${title}), met by a release, stays as it is`, async () => {
      await redisson.run(async () => {
        await lock.lock()
        await lock.lock()
        await redis.del(name)
        await make(redis, name)
        const before = await contents()
        for (const call of [() => lock.lock(), () => lock.unlock(), () => lock.unlock()])
          expect((await rejection(call())).code, String(call)).to.be.oneOf(['WRONG_TYPE', 'LOCK_LOST'])
        expect(await contents()).to.deep.equal(before)
        expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
      })
    })
  }

  it('A key that holds no lock does not stand in the way once it is gone', async () => {
    await redis.set(name, 'theirs')
    await redisson.run(async () => {
      await rejection(lock.lock())
      await redis.del(name)
      await lock.lock()
      await lock.unlock()
    })
  })

  it('forceUnlock() of a key whose field is no text rejects, and does not repeat (V26)', async () => {
    const sent = new SentScripts()
    const client = await createRedisson({}, { transport: sent.transport })
    await redis.hset(name, Buffer.from([0xff, 0xfe]), 1)
    expect(await rejection(client.getLock(name).forceUnlock())).to.be.instanceOf(WrongTypeError)
    expect(sent.count('lock/force-release')).to.be.at.most(2)
    expect(await redis.exists(name)).to.equal(1)
  })
})
