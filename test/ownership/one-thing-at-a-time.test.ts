import { expect } from 'chai'
import { IllegalMonitorStateError, LockLostError } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { blockEventLoop, ownerOf, stillPending } from '../kit/observing'

describe('One caller does one thing at a time on one lock', () => {
  clientAndRedis('one-thing')

  it('A second acquisition of a caller rejects at once, and says what to do', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    await redisson.run(async () => {
      const first = lock.lock()
      for (const second of [
        () => lock.lock(),
        () => redisson.getLock(name).tryLock(),
        () => lock.acquire(),
        () => lock.tryAcquire({ waitTime: 5 }),
      ]) {
        const error = await rejection(second())
        expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
        expect(error.message).to.match(/redisson\.run\(\)/)
        expect(error.message).to.include(name).and.include(redisson.getId())
      }
      const explicit = lock.lock({ threadId: 3 })
      expect(await rejection(lock.tryLock({ threadId: 3 }))).to.be.instanceOf(IllegalMonitorStateError)
      expect(await stillPending(first), 'the first waits on').to.equal(true)
      await held.unlock()
      await first
      await lock.unlock()
      await explicit
      await lock.unlock({ threadId: 3 })
    })
    expect(await lock.isLocked()).to.equal(false)
  })

  it('A second acquisition of a multi lock or a RedLock rejects between two rounds, too', async () => {
    // A lock of another library, so that no queue of a member keeps the calls apart.
    const taken = { tryAcquire: async () => undefined }
    for (const lock of [redisson.getMultiLock(taken), redisson.getRedLock(taken)])
      await redisson.run(async () => {
        const first = lock.tryLock(200)
        expect(await rejection(lock.tryLock())).to.be.instanceOf(IllegalMonitorStateError)
        expect(await first).to.equal(false)
      })
  })

  it('A second re-entry of a caller rejects too, and only the first counts', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const [first, second] = await Promise.allSettled([lock.lock(), lock.lock()])
      expect(first.status).to.equal('fulfilled')
      expect(second).to.have.property('reason').instanceOf(IllegalMonitorStateError)
      expect((await ownerOf(redis, name)).count).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
  })

  it('A second acquisition rejects also right after the lease of the former hold ended unnoticed', async () => {
    await redisson.run(async () => {
      await lock.lock(50)
      // No timer can tell of the end of the lease before the calls below look themselves.
      blockEventLoop(80)
      const first = lock.lock()
      const second = lock.tryLock()
      expect(await rejection(second)).to.be.instanceOf(IllegalMonitorStateError)
      await first
      await lock.unlock()
    })
  })

  it('A caller in flight does not hinder other locks, threads and branches', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    await redisson.run(async () => {
      const first = lock.lock()
      expect(await redisson.getLock(uniqueName('one-thing')).tryLock()).to.equal(true)
      expect(await redisson.run(() => lock.tryLock())).to.equal(false)
      const branch = lock.withLock(() => 'branch')
      await held.unlock()
      await first
      await lock.unlock()
      expect(await branch).to.equal('branch')
    })
  })

  it('A caller can acquire again after an acquisition that failed, timed out or was aborted', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    await redisson.run(async () => {
      expect(await lock.tryLock(20)).to.equal(false)
      const controller = new AbortController()
      const aborted = rejection(lock.lock({ signal: controller.signal }))
      controller.abort(new Error('enough'))
      expect((await aborted).message).to.equal('enough')
      await rejection(lock.lock(0))
      await held.unlock()
      expect(await lock.tryLock(5_000)).to.equal(true)
      await lock.unlock()
    })
  })

  it('A second unlock() of a caller waits for the first', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      await Promise.all([lock.unlock(), redisson.getLock(name).unlock()])
      expect(await redis.exists(name)).to.equal(0)
      await lock.lock()
      const [first, second] = await Promise.allSettled([lock.unlock(), lock.unlock()])
      expect(first.status).to.equal('fulfilled')
      expect(second).to.have.property('reason').instanceOf(IllegalMonitorStateError)
    })
  })

  it('An unlock() waits for an acquisition of its caller in flight', async () => {
    await redisson.run(async () => {
      await Promise.all([lock.lock(), lock.unlock()])
      expect(await redis.exists(name)).to.equal(0)
      await lock.lock()
      await Promise.all([lock.lock(), lock.unlock()])
      expect((await ownerOf(redis, name)).count).to.equal(1)
      await lock.unlock()
    })
  })

  it('An acquisition waits for an unlock() of its caller in flight', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await Promise.all([lock.unlock(), lock.lock()])
      expect((await ownerOf(redis, name)).count).to.equal(1)
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('Many unlock() calls of a caller at once release a level each', async () => {
    await redisson.run(async () => {
      for (let level = 0; level < 4; level++) await lock.lock()
      await Promise.all([lock.unlock(), lock.unlock(), lock.unlock(), lock.unlock()])
      expect(await redis.exists(name)).to.equal(0)
    })
  })

  it('An acquisition after unlock() calls in flight that release the last level is a new hold', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      const before = await ownerOf(redis, name)
      await Promise.all([lock.unlock(), lock.unlock(), lock.lock()])
      const after = await ownerOf(redis, name)
      expect(after.count).to.equal(1)
      expect(after.field).to.not.equal(before.field)
      await lock.unlock()
    })
  })

  it('Calls of a caller run in the order in which they are made', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await Promise.all([lock.unlock(), lock.lock(2_000)])
      // Were the new level released in place of the old, the lease would be the watchdog's 30 s.
      expect(await redis.pttl(name)).to.be.within(1, 2_000)
      await lock.unlock()
    })
  })
})
