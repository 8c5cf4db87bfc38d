import { expect } from 'chai'
import { IllegalMonitorStateError } from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { ownershipSuite } from '../contract/ownership'
import { nonReentrantLock } from '../contract/primitives'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { openProxy } from '../kit/proxies'
import { SentScripts } from '../kit/sent-scripts'
import { defaultServer } from '../kit/stand-in'

// Its scripts and its queue are those of the plain lock, for which the other contracts are run.
anyHandleSuite(lockHandles(nonReentrantLock))
ownershipSuite(nonReentrantLock)

describe('A non-reentrant lock', () => {
  clientAndRedis('non-reentrant')

  it('A non-reentrant lock refuses its holder by every call and object', async () => {
    const lock = redisson.getNonReentrantLock(name)
    const another = redisson.getNonReentrantLock(name)
    await redisson.run(async () => {
      await lock.lock()
      for (const again of [
        () => lock.lock(),
        () => another.lock(1_000),
        () => another.tryLock(),
        () => lock.tryLock(100),
        () => another.acquire(),
        () => another.tryAcquire(),
        () => another.withLock(() => expect.fail('inside a second time')),
      ]) {
        const error = await rejection(again())
        expect(error).to.be.instanceOf(IllegalMonitorStateError)
        expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
        for (const part of [name, redisson.getId(), 'thread id ', 'Release it first', 'getLock()'])
          expect(error.message).to.contain(part)
      }
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
      await another.withLock(() => {})
    })
  })

  it('A non-reentrant lock refuses a thread id and nested withLock(), and sends nothing', async () => {
    const scripts = new SentScripts()
    const client = await createRedisson({}, { transport: scripts.transport })
    const lock = client.getNonReentrantLock(name)
    await lock.lock({ threadId: 7 })
    scripts.names.length = 0
    expect((await rejection(lock.tryLock({ threadId: 7 }))).message).to.contain('not re-entrant')
    expect(scripts.names).to.deep.equal([])
    await lock.unlock({ threadId: 7 })
    await lock.withLock(async () => {
      expect((await rejection(lock.lock())).message).to.contain('not re-entrant')
      // Deeper, in a child of the thread.
      const nested = client.getLock(uniqueName()).withLock(() => lock.tryLock(50))
      expect((await rejection(nested)).message).to.contain('not re-entrant')
    })
  })

  it('Unscoped callers of a non-reentrant lock exclude each other, without an error', async () => {
    const lock = redisson.getNonReentrantLock(name)
    await lock.lock()
    expect(await lock.tryLock()).to.equal(false)
    expect(await lock.tryLock(50)).to.equal(false)
    await lock.unlock()
  })

  it('A non-reentrant and a plain lock of one name are one: the object decides on re-entry', async () => {
    const plain = redisson.getLock(name)
    const strict = redisson.getNonReentrantLock(name)
    await redisson.run(async () => {
      await plain.lock()
      expect((await rejection(strict.lock())).message).to.contain('not re-entrant')
      await plain.unlock()
      await strict.lock()
      await plain.lock()
      expect(await strict.getHoldCount()).to.equal(2)
      await plain.unlock()
      await strict.unlock()
      expect(await plain.isLocked()).to.equal(false)
    })
  })

  it('A non-reentrant lock with a lost reply is held, and no re-entry is reported (N1)', async () => {
    const proxy = await openProxy(await defaultServer())
    const client = await createRedisson({ redis: proxy.url })
    await client.getNonReentrantLock(uniqueName()).withLock(() => {})
    const lock = client.getNonReentrantLock(name)
    const dropped = proxy.dropNextReply((words) => words[0] === 'evalsha' && words.includes(name))
    await client.run(async () => {
      const acquiring = lock.lock()
      await dropped
      await acquiring
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
    expect(await (await openRedis()).exists(name)).to.equal(0)
  })

  it('A caller of an expired non-reentrant lock acquires afresh, and learns of a loss', async () => {
    const lock = redisson.getNonReentrantLock(name)
    await redisson.run(async () => {
      await lock.lock(50)
      await new Promise((resolve) => setTimeout(resolve, 60))
      await lock.lock()
      await redis.del(name)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect((await rejection(lock.lock())).code).to.equal('LOCK_LOST')
    })
  })

  it('Waiters of a non-reentrant lock in one process get it by local handoff, in order', async () => {
    const scripts = new SentScripts()
    const client = await createRedisson({}, { transport: scripts.transport })
    const lock = client.getNonReentrantLock(name)
    const order: number[] = []
    await lock.lock()
    const waiting = [1, 2, 3].map((each) => lock.withLock(() => order.push(each)))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await lock.unlock()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3])
    expect(scripts.count('lock/handoff')).to.be.greaterThan(0)
  })
})
