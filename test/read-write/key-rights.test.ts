import { expect } from 'chai'
import { RedisRefusedError, type Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ownServer } from '../kit/servers/index'

describe('The keys beside a read-write lock', () => {
  const server = ownServer()

  redisAndName('test', { server })

  async function as(...keys: string[]): Promise<Redisson> {
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>secret', '&*', '+@all', ...keys)
    return await createRedisson({ redis: server.url.replace('redis://', 'redis://app:secret@') })
  }

  for (const side of ['readLock', 'writeLock'] as const)
    it(`${side}() names the side keys at its acquisition: without the right it takes nothing`, async () => {
      const redisson = await as('~lock:*')
      const name = `lock:${uniqueName()}`
      const lock = redisson.getReadWriteLock(name)[side]()
      for (const call of [() => lock.lock(), () => lock.tryLock(), () => lock.tryLock(5_000)]) {
        const error = await rejection(call())
        expect(error).to.be.instanceOf(RedisRefusedError)
        expect(error.message).to.contain(`~${name}`).and.contain(`~{${name}}:*`)
      }
      expect(await redis.exists(name)).to.equal(0)
    })

  it('The side keys of a read-write lock are all that a client touches beside the lock', async () => {
    const redisson = await as('~lock:*', '~{lock:*}:*')
    const name = `lock:${uniqueName()}`
    const rw = redisson.getReadWriteLock(name)
    const who = { threadId: 1 }
    await rw.writeLock().lock(who)
    await rw.writeLock().lock(who)
    await rw.readLock().lock(who)
    await rw.readLock().lock(who)
    await rw.writeLock().unlock(who)
    await rw.writeLock().unlock(who)
    await rw.readLock().unlock(who)
    await rw.readLock().unlock(who)
    expect(await redis.exists(name)).to.equal(0)
    for (const lock of [rw.readLock(), rw.writeLock()]) {
      await lock.lock(who)
      expect(await lock.isLocked()).to.equal(true)
      expect(await lock.forceUnlock()).to.equal(true)
    }
    expect(await redis.exists(name)).to.equal(0)
  })

  it('The keys beside a read-write lock do not matter to a plain lock', async () => {
    const redisson = await as('~lock:*')
    await redisson.getLock(`lock:${uniqueName()}`).withLock(() => {})
  })
})
