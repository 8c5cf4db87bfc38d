import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { LockLostError, type Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { wireThreadId } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

describe('withLock()', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string

  beforeEach(async () => {
    redisson = await createRedisson()
    redis = await openRedis()
    name = uniqueName('with-lock')
  })
  afterEach(closeAll)

  it('withLock() resolves with what the function gives, having released', async () => {
    const lock = redisson.getLock(name)
    const result = await lock.withLock(async (hold) => {
      expect(hold.lockName).to.equal(name)
      expect(hold.threadId).to.equal(await wireThreadId(redis, name))
      return { answer: 42 }
    })
    expect(result).to.deep.equal({ answer: 42 })
    expect(await redis.exists(name)).to.equal(0)
    expect(await lock.withLock(() => 'synchronous')).to.equal('synchronous')
    expect(await redis.exists(name)).to.equal(0)
  })

  it("withLock() rejects with the function's own error, having released", async () => {
    const failure = new Error('failed inside')
    const lock = redisson.getLock(name)
    expect(await rejection(lock.withLock(() => Promise.reject(failure)))).to.equal(failure)
    const thrown = lock.withLock(() => {
      throw failure
    })
    expect(await rejection(thrown)).to.equal(failure)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('withLock() waits for the function even when the hold is lost, and its error goes before the loss', async () => {
    const failure = new Error('failed inside')
    let finished = false
    const rejected = redisson.getLock(name).withLock(async () => {
      await redis.del(name)
      await new Promise((resolve) => setTimeout(resolve, 20))
      finished = true
      throw failure
    })
    expect(await rejection(rejected)).to.equal(failure)
    expect(finished).to.equal(true)
  })

  it('withLock() rejects with LockLostError carrying the result when the hold was lost meanwhile', async () => {
    const lost = (await rejection(
      redisson.getLock(name).withLock(async () => {
        await redis.del(name)
        return 'computed'
      }),
    )) as LockLostError
    expect(lost).to.be.instanceOf(LockLostError)
    expect(lost.result).to.equal('computed')
    expect(lost.lockName).to.equal(name)
  })

  it('withLock() rejects with LockLostError when its lease ended, and its signal has aborted', async () => {
    const lost = (await rejection(
      redisson.getLock(name).withLock(
        async ({ signal }) => {
          await waitUntil('the signal aborts', () => signal.aborted)
          return 7
        },
        { leaseTime: 60 },
      ),
    )) as LockLostError
    expect(lost).to.be.instanceOf(LockLostError)
    expect(lost.result).to.equal(7)
  })

  it('withLock() releases nothing when its function has released the hold', async () => {
    const result = await redisson.getLock(name).withLock(async (hold) => {
      await hold.unlock()
      expect(await redis.exists(name)).to.equal(0)
      return 'early'
    })
    expect(result).to.equal('early')
  })

  it('withLock() does not call the function when its signal aborts before the lock is free', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    const controller = new AbortController()
    let called = false
    const waiting = redisson.getLock(name).withLock(
      () => {
        called = true
      },
      { signal: controller.signal },
    )
    controller.abort(new Error('enough'))
    expect((await rejection(waiting)).message).to.equal('enough')
    await held.unlock()
    expect(called).to.equal(false)
    // Its acquisition may reach the server after the release: it is released then.
    await waitUntil('the lock is free', async () => (await redis.exists(name)) === 0)
  })

  it('withLock() passes an abort that comes once it is inside: the function decides', async () => {
    const controller = new AbortController()
    const result = await redisson.getLock(name).withLock(
      () => {
        controller.abort()
        return 'went on'
      },
      { signal: controller.signal },
    )
    expect(result).to.equal('went on')
  })
})
