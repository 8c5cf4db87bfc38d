import { expect } from 'chai'
import { LockLostError } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { eventsOf } from '../kit/observing'

describe('What a lock answers', () => {
  clientAndRedis('queries')

  it('A lock held by this client answers its levels and the remaining lease', async () => {
    await redisson.run(async () => {
      await lock.lock(20_000)
      await lock.lock(10_000)
      expect(await lock.isLocked()).to.equal(true)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(2)
      expect(await lock.remainTimeToLive()).to.be.within(1, 20_000)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.getHoldCount()).to.equal(0)
    })
    await lock.lock({ threadId: 11 })
    expect(await lock.isHeldByThread(11)).to.equal(true)
    expect(await lock.isHeldByThread(12)).to.equal(false)
    await lock.unlock({ threadId: 11 })
    expect(await lock.isHeldByThread(11)).to.equal(false)
  })

  it('A lock held by a Java peer answers its state, also without expiry', async () => {
    await redis.hset(name, 'java:1', 2)
    expect(await lock.isLocked()).to.equal(true)
    expect(await lock.isHeldByCurrentThread()).to.equal(false)
    expect(await lock.isHeldByThread(1)).to.equal(false)
    expect(await lock.getHoldCount()).to.equal(0)
    expect(await lock.remainTimeToLive()).to.equal(-1)
    await redis.pexpire(name, 50_000)
    expect(await lock.remainTimeToLive()).to.be.within(1, 50_000)
    expect(await lock.forceUnlock()).to.equal(true)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A lock answers what the server says, also where this client believes otherwise', async () => {
    const lost = eventsOf(redisson, 'lockLost')
    await redisson.run(async () => {
      await lock.lock()
      await redis.del(name)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(lost.map(({ lockName, reason }) => ({ lockName, reason }))).to.deep.equal([
        { lockName: name, reason: 'gone' },
      ])
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
    })
  })
})
