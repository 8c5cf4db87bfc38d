import { expect } from 'chai'
import { IllegalMonitorStateError } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { deferred, stillPending } from '../kit/observing'

describe('A logical thread (redisson.run)', () => {
  clientAndRedis('run')

  it('A logical thread stays the same at every depth of its code', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([1].map(async () => await redisson.getLock(name).lock()))
      const inTimer = deferred<boolean>()
      setTimeout(async () => inTimer.resolve(await lock.isHeldByCurrentThread()), 1)
      expect(await inTimer.promise).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(2)
    })
  })

  it('A logical thread excludes another thread and code outside any', async () => {
    await redisson.run(() => lock.lock())
    expect(await redisson.run(() => lock.tryLock())).to.equal(false)
    expect(await lock.tryLock()).to.equal(false)
    expect(await redisson.run(() => lock.isHeldByCurrentThread())).to.equal(false)
    expect(await rejection(redisson.run(() => lock.unlock()))).to.be.instanceOf(IllegalMonitorStateError)
  })

  it('A logical thread in a nested run is another one, which releases nothing of the outer', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await redisson.run(async () => {
        expect(await lock.tryLock()).to.equal(false)
        expect(await lock.getHoldCount()).to.equal(0)
        const error = await rejection(lock.unlock())
        expect(error).to.be.instanceOf(IllegalMonitorStateError)
        expect(error.message).to.match(/this client does hold it/i)
      })
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('A logical thread waits for the outer thread in a nested run until that one releases', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const inner = redisson.run(async () => {
        await lock.lock()
        await lock.unlock()
        return 'had it'
      })
      expect(await stillPending(inner)).to.equal(true)
      await lock.unlock()
      expect(await inner).to.equal('had it')
    })
  })

  it('A logical thread ends when its function resolves: what a timer does afterwards is unscoped', async () => {
    const go = deferred()
    let left!: Promise<void>
    await redisson.run(async () => {
      left = go.promise.then(async () => {
        // Its unlock() would still release the hold, but nothing re-enters it.
        expect(await lock.isHeldByCurrentThread()).to.equal(true)
        expect(await lock.tryLock()).to.equal(false)
      })
      await lock.lock()
    })
    go.resolve()
    await left
  })

  it('A logical thread ends when its function rejects, too', async () => {
    const go = deferred()
    let left!: Promise<boolean>
    const failure = await rejection(
      redisson.run(async () => {
        left = go.promise.then(() => lock.tryLock())
        await lock.lock()
        throw new Error('failed inside')
      }),
    )
    expect(failure.message).to.equal('failed inside')
    go.resolve()
    expect(await left).to.equal(false)
  })

  it('A logical thread may still be unlocked by what it left behind', async () => {
    const go = deferred()
    let left!: Promise<Error>
    await redisson.run(async () => {
      left = go.promise.then(async () => {
        await redisson.getLock(name).unlock()
        return await rejection(lock.unlock())
      })
      await lock.lock()
    })
    expect(await redis.exists(name)).to.equal(1)
    go.resolve()
    expect(await left).to.be.instanceOf(IllegalMonitorStateError)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A logical thread that has ended prefers its own hold to an unscoped one of the same object', async () => {
    const other = uniqueName('run')
    const go = deferred()
    let left!: Promise<void>
    const unscoped = redisson.getLock(other)
    await redisson.run(async () => {
      left = go.promise.then(async () => {
        // Taken after the end, so without a scope: its own object remembers it.
        await unscoped.lock()
        expect(await unscoped.isHeldByCurrentThread()).to.equal(true)
        await unscoped.unlock()
        await lock.unlock()
      })
      await lock.lock()
    })
    go.resolve()
    await left
    expect(await lock.isLocked()).to.equal(false)
    expect(await unscoped.isLocked()).to.equal(false)
  })

  it('A logical thread passes on what its function returns, synchronous or not', async () => {
    expect(await redisson.run(() => 5)).to.equal(5)
    expect(await redisson.run(async () => 'later')).to.equal('later')
    const thrown = await rejection(
      redisson.run(() => {
        throw new RangeError('at once')
      }),
    )
    expect(thrown).to.be.instanceOf(RangeError)
  })

  it('A logical thread is a different owner to every client', async () => {
    const other = await createRedisson()
    await redisson.run(async () => {
      await redisson.getLock(name).lock()
      expect(await other.getLock(name).tryLock()).to.equal(false)
      // One thread, though: run() of either client opens it for both.
      const second = uniqueName('run')
      await other.getLock(second).lock()
      expect(await other.getLock(second).tryLock()).to.equal(true)
    })
  })
})
