import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { IllegalMonitorStateError, LockLostError } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { stillPending } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { sharedStandalone, startProxy, waitUntil } from '../kit/servers/index'

describe('Code outside any scope', () => {
  const sent = new SentScripts()

  clientAndRedis('unscoped', {}, { transport: sent.transport })

  for (const [title, second] of [
    ['one object', false],
    ['two objects', true],
  ] as const)
    it(`Code outside any scope excludes itself through ${title}`, async () => {
      const again = second ? redisson.getLock(name) : lock
      await lock.lock()
      expect(await again.tryLock()).to.equal(false)
      expect(await again.tryLock(30)).to.equal(false)
      const waiting = again.lock()
      expect(await stillPending(waiting)).to.equal(true)
      await lock.unlock()
      await waiting
      expect(await lock.tryLock()).to.equal(false)
      await again.unlock()
    })

  it('Code outside any scope lets in one of many requests that share an object', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => lock.tryLock()))
    expect(answers.filter((acquired) => acquired)).to.have.length(1)
    await lock.unlock()
  })

  it('Code outside any scope counts the hold that unlock() would release, and no other', async () => {
    const other = redisson.getLock(name)
    expect(await lock.getHoldCount()).to.equal(0)
    await lock.lock()
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    expect(await lock.getHoldCount()).to.equal(1)
    expect(await other.isHeldByCurrentThread()).to.equal(false)
    expect(await other.getHoldCount()).to.equal(0)
    await lock.unlock()
    expect(await lock.isHeldByCurrentThread()).to.equal(false)
  })

  it('Code outside any scope cannot unlock by another object, and learns where it is held', async () => {
    await redisson.getLock(name).lock()
    sent.names.length = 0
    const error = await rejection(redisson.getLock(name).unlock())
    expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
    expect(error.message).to.match(/this client does hold it.*another lock object, another scope/i)
    expect(error.message).to.include(name).and.include(redisson.getId())
    expect(sent.names).to.deep.equal([])
    expect(await redis.exists(name)).to.equal(1)
  })

  it('Code outside any scope cannot unlock what its client does not hold, without a hint', async () => {
    const other = await createRedisson()
    await other.getLock(name).lock()
    const error = await rejection(redisson.getLock(name).unlock())
    expect(error).to.be.instanceOf(IllegalMonitorStateError)
    expect(error.message).to.include(name).and.include(redisson.getId())
    expect(error.message).to.not.match(/does hold it/)
    expect(await redisson.getLock(name).isLocked()).to.equal(true)
  })

  it('Code outside any scope remembers that holds were lost, and forgets none', async () => {
    for (let round = 0; round < 105; round++) {
      await lock.lock()
      await lock.forceUnlock()
    }
    await lock.lock()
    for (let round = 0; round < 105; round++) {
      const error = await rejection(lock.unlock())
      expect(error, `unlock ${round}`).to.be.instanceOf(LockLostError)
    }
    expect(await lock.isLocked()).to.equal(true)
    await lock.unlock()
    expect(await lock.isLocked()).to.equal(false)
  })

  it('Bare unlock() of readers ends the multi lock with the earlier lease (V160)', async () => {
    const proxy = await startProxy(await sharedStandalone())
    const slow = await createRedisson({ redis: proxy.url })
    const [first, last] = [`${name}1`, `${name}2`]
    const both = redisson.getMultiLock(
      redisson.getReadWriteLock(first).readLock(),
      slow.getReadWriteLock(last).readLock(),
    )
    proxy.stallReplies()
    const late = both.lock(5_000)
    await waitUntil('the first member is acquired', async () => (await redis.exists(first)) === 1)
    const [ownerOfLate = ''] = (await redis.hkeys(first)).filter((field) => field !== 'mode')
    await sleep(800)
    proxy.resume()
    await late
    await both.lock(4_600)
    await both.unlock()
    expect(await redis.hexists(first, ownerOfLate)).to.equal(0)
    await both.unlock()
    expect(await redis.exists(first, last)).to.equal(0)
    await proxy.stop()
  })

  it('Code outside any scope keeps its holds apart from those of a scope on the same object', async () => {
    await lock.lock()
    await redisson.run(async () => {
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
    })
    await lock.unlock()
    await waitUntil('the lock is free', async () => !(await lock.isLocked()))
  })
})
