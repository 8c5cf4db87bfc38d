import { expect } from 'chai'
import type { RLock } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'

/** A key that holds something else is reported, and left as it is. */
describe('Read-write lock: keys that are none', () => {
  clientAndRedis('rw')

  const place: Record<string, () => Promise<unknown>> = {
    'a string': () => redis.set(name, 'x'),
    'a list': () => redis.lpush(name, 'x', 'y'),
    'a set': () => redis.sadd(name, 'x'),
    'a hash of somebody else': () => redis.hset(name, { a: '1', b: '2' }),
    'a plain lock': () => redisson.getLock(name).lock(),
  }
  const operations: [string, (lock: RLock) => Promise<unknown>][] = [
    ['lock()', (lock) => lock.lock()],
    ['tryLock()', (lock) => lock.tryLock()],
    ['tryLock(wait)', (lock) => lock.tryLock(60_000)],
    ['acquire()', (lock) => lock.acquire()],
    ['withLock()', (lock) => lock.withLock(() => {})],
    ['forceUnlock()', (lock) => lock.forceUnlock()],
    ['isLocked()', (lock) => lock.isLocked()],
    ['remainTimeToLive()', (lock) => lock.remainTimeToLive()],
  ]
  const expectWrongType = async (attempt: Promise<unknown>, what: string) => {
    const error = await rejection(attempt)
    expect(error, what).to.include({ name: 'WrongTypeError', code: 'WRONG_TYPE' })
    expect(error.message, what).to.contain(name)
  }

  for (const [what, put] of Object.entries(place)) {
    it(`${what} is a WrongTypeError to both sides, and stays as it was`, async () => {
      await put()
      const before = await redis.dump(name)
      const rw = redisson.getReadWriteLock(name)
      for (const lock of [rw.readLock(), rw.writeLock()])
        for (const [operation, call] of operations) await expectWrongType(call(lock), operation)
      expect(await redis.dump(name)).to.equal(before)
      expect(await redis.keys(`*${name}*`)).to.deep.equal([name])
      await redis.del(name)
    })
  }

  for (const side of ['readLock', 'writeLock'] as const) {
    it(`A ${side} is a WrongTypeError to a plain lock of its name`, async () => {
      const lock = redisson.getReadWriteLock(name)[side]()
      await lock.lock({ threadId: 1 })
      for (const [operation, call] of operations)
        await expectWrongType(call(redisson.getLock(name)), operation)
      expect(await lock.isHeldByThread(1)).to.equal(true)
      await lock.unlock({ threadId: 1 })
    })

    it(`A ${side} whose key became something else is lost at re-entry or release`, async () => {
      const lock = redisson.getReadWriteLock(name)[side]()
      await lock.lock({ threadId: 1 })
      await redis.del(name)
      await redis.set(name, 'x')
      for (const call of [lock.lock({ threadId: 1 }), lock.unlock({ threadId: 1 })])
        expect(await rejection(call)).to.include({ code: 'LOCK_LOST' })
      expect(await redis.get(name)).to.equal('x')
      await redis.del(name)
    })
  }
})
