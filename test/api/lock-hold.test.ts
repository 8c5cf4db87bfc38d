import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { IllegalMonitorStateError, type LockHold, LockLostError, type Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { blockEventLoop, wireThreadId } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'

describe('A LockHold', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string
  const sent = new SentScripts()

  beforeEach(async () => {
    redisson = await createRedisson({}, { transport: sent.transport })
    redis = await openRedis()
    name = uniqueName('hold')
  })
  afterEach(closeAll)

  it('A LockHold says which lock, which thread id on the wire, and that it holds', async () => {
    const hold = await redisson.getLock(name).acquire()
    expect(hold.lockName).to.equal(name)
    expect(hold.threadId).to.equal(await wireThreadId(redis, name))
    expect(hold.isHeld).to.equal(true)
    expect(hold.signal).to.be.instanceOf(AbortSignal)
    expect(hold.signal).to.equal(hold.signal)
    expect(hold.signal.aborted).to.equal(false)
    await hold.unlock()
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.aborted, 'a release is no loss').to.equal(false)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A LockHold is given by tryAcquire, or undefined', async () => {
    const lock = redisson.getLock(name)
    const hold = await lock.tryAcquire()
    expect(hold?.isHeld).to.equal(true)
    expect(await lock.tryAcquire()).to.equal(undefined)
    await hold!.unlock()
    const later = await lock.tryAcquire({ waitTime: 1_000, leaseTime: 5_000 })
    expect(later?.isHeld).to.equal(true)
    await later!.unlock()
  })

  it('A LockHold is a one-shot token: a second unlock() rejects and releases no successor', async () => {
    const lock = redisson.getLock(name)
    const hold = await lock.acquire()
    await hold.unlock()
    const successor = await lock.acquire()
    const error = await rejection(hold.unlock())
    expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
    for (const part of [name, redisson.getId(), String(hold.threadId)]) expect(error.message).to.include(part)
    expect(successor.isHeld).to.equal(true)
    expect(await lock.isLocked()).to.equal(true)
    await successor.unlock()
  })

  it('A LockHold is one-shot also for two calls at once', async () => {
    const hold = await redisson.getLock(name).acquire()
    const [first, second] = await Promise.allSettled([hold.unlock(), hold.unlock()])
    expect(first.status).to.equal('fulfilled')
    expect(second).to.have.property('reason').instanceOf(IllegalMonitorStateError)
  })

  it('A LockHold is valid from any scope', async () => {
    const inThread = await redisson.run(() => redisson.getLock(name).acquire())
    await inThread.unlock()
    const outside = await redisson.getLock(name).acquire()
    await redisson.run(() => outside.unlock())
    const explicit = await redisson.getLock(name).acquire({ threadId: 3 })
    await redisson.run(() => explicit.unlock())
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A LockHold disposes by unlocking, once, and not at all after unlock()', async () => {
    const lock = redisson.getLock(name)
    const hold = await lock.acquire()
    await hold[Symbol.asyncDispose]()
    expect(await redis.exists(name)).to.equal(0)
    sent.names.length = 0
    await hold[Symbol.asyncDispose]()
    expect(sent.names).to.deep.equal([])
    expect(await rejection(hold.unlock())).to.be.instanceOf(IllegalMonitorStateError)
    const unlocked = await lock.acquire()
    await unlocked.unlock()
    const successor = await lock.acquire()
    await unlocked[Symbol.asyncDispose]()
    expect(successor.isHeld).to.equal(true)
    await successor.unlock()
  })

  it('A LockHold works with `await using`, whether the block is left by its end or by an error', async () => {
    const lock = redisson.getLock(name)
    {
      await using hold = await lock.acquire()
      expect(hold.isHeld).to.equal(true)
    }
    expect(await redis.exists(name)).to.equal(0)
    const failing = async () => {
      await using _hold = await lock.acquire()
      throw new Error('failed inside')
    }
    expect((await rejection(failing())).message).to.equal('failed inside')
    expect(await redis.exists(name)).to.equal(0)
    {
      await using hold = await lock.tryAcquire()
      await hold!.unlock()
    }
  })

  it('Disposing of a lost LockHold rejects', async () => {
    const hold = await redisson.getLock(name).acquire()
    await redis.del(name)
    expect(await rejection(hold[Symbol.asyncDispose]())).to.be.instanceOf(LockLostError)
  })

  it('isHeld compares times when it is read: a lease that ended while the event loop was blocked is over', async () => {
    const hold = await redisson.getLock(name).acquire({ leaseTime: 60 })
    blockEventLoop(80)
    // No timer had a chance to fire.
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.aborted).to.equal(true)
    expect(hold.signal.reason).to.be.instanceOf(LockLostError)
    sent.names.length = 0
    expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
    expect(sent.names).to.deep.equal([])
  })

  it('A LockHold aborts its signal by itself when the lease runs out, which is no lockLost event', async () => {
    const lost: unknown[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    const { signal } = await redisson.getLock(name).acquire({ leaseTime: 60 })
    await waitUntil('the signal aborts', () => signal.aborted)
    expect((signal.reason as LockLostError).code).to.equal('LOCK_LOST')
    expect((signal.reason as LockLostError).lockName).to.equal(name)
    expect(lost).to.deep.equal([])
  })

  it('A LockHold releases exactly its own level of a hold with several', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      const holds: LockHold[] = []
      for (let level = 0; level < 3; level++) holds.push(await lock.acquire())
      const [outer, middle, inner] = holds as [LockHold, LockHold, LockHold]
      expect(new Set(holds.map(({ threadId }) => threadId)).size).to.equal(1)
      await middle.unlock()
      expect(holds.map(({ isHeld }) => isHeld)).to.deep.equal([true, false, true])
      await outer.unlock()
      expect(await lock.getHoldCount()).to.equal(1)
      expect(inner.isHeld).to.equal(true)
      await inner.unlock()
    })
    expect(await redis.exists(name)).to.equal(0)
  })
})
