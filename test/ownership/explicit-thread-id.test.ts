import { expect } from 'chai'
import { IllegalMonitorStateError } from '../../src/index'
import { rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { ownerOf, wireThreadId } from '../kit/observing'

describe('An explicit threadId', () => {
  clientAndRedis('explicit')

  it('An explicit threadId re-enters through every acquiring call and every object of the name', async () => {
    await lock.lock({ threadId: 7 })
    expect(await redisson.getLock(name).tryLock({ threadId: 7 })).to.equal(true)
    const hold = await redisson.getLock(name).acquire({ threadId: 7 })
    expect((await ownerOf(redis, name)).count).to.equal(3)
    await hold.unlock()
    await lock.unlock({ threadId: 7 })
    await redisson.getLock(name).unlock({ threadId: 7 })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('An explicit threadId excludes other ids, and code without one', async () => {
    await lock.lock({ threadId: 7 })
    expect(await lock.tryLock({ threadId: 8 })).to.equal(false)
    expect(await lock.tryLock()).to.equal(false)
    expect(await rejection(lock.unlock({ threadId: 8 }))).to.be.instanceOf(IllegalMonitorStateError)
    expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
    await lock.unlock({ threadId: 7 })
  })

  it('An explicit threadId goes before the logical thread', async () => {
    await redisson.run(async () => {
      await lock.lock({ threadId: 7 })
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.tryLock()).to.equal(false)
      expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
    })
    // It does not end with the thread in which it was used.
    expect(await lock.tryLock({ threadId: 7 })).to.equal(true)
    expect(await lock.isHeldByThread(7)).to.equal(true)
    await lock.unlock({ threadId: 7 })
    await lock.unlock({ threadId: 7 })
  })

  it('An explicit threadId never reaches the wire, so it cannot meet an id of ours', async () => {
    await lock.lock({ threadId: 7 })
    const first = await wireThreadId(redis, name)
    await lock.unlock({ threadId: 7 })
    // The id that the next hold without a threadId would have used had we not kept them apart.
    const next = first + 1
    await lock.lock({ threadId: next })
    const unscoped = redisson.getLock(uniqueName('explicit'))
    await unscoped.lock()
    const ids = [await wireThreadId(redis, name), await wireThreadId(redis, unscoped.getName())]
    expect(new Set([first, ...ids])).to.have.property('size', 3)
    await unscoped.unlock()
    await lock.unlock({ threadId: next })
  })

  it('An explicit threadId counts a lock by itself', async () => {
    const other = redisson.getLock(uniqueName('explicit'))
    await redisson.getLock(name).lock({ threadId: 7 })
    expect(await other.isHeldByThread(7)).to.equal(false)
    await other.lock({ threadId: 7 })
    await redisson.getLock(name).unlock({ threadId: 7 })
    expect(await other.isHeldByThread(7)).to.equal(true)
    await other.unlock({ threadId: 7 })
  })
})
