import { expect } from 'chai'
import { IllegalMonitorStateError, LockLostError } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { ownerOf } from '../kit/observing'

// Code that got a LockHold, or runs within withLock, relies on that level to the end: a stray unlock() in a
// helper must not release it early. Its token alone does.
describe('Bare unlock() and the levels of LockHolds', () => {
  clientAndRedis('token')

  async function expectRefused(unlocking: Promise<void>) {
    const error = await rejection(unlocking)
    expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
    expect(error.message).to.match(/LockHold or withLock\(\)/)
  }

  it('Bare unlock() does not release the level of a LockHold in a thread', async () => {
    await redisson.run(async () => {
      const hold = await lock.acquire()
      await expectRefused(lock.unlock())
      expect(hold.isHeld).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(1)
      await hold.unlock()
    })
  })

  it('Bare unlock() does not release the level of a LockHold under a threadId', async () => {
    const hold = await lock.acquire({ threadId: 5 })
    await expectRefused(lock.unlock({ threadId: 5 }))
    expect(await lock.isHeldByThread(5)).to.equal(true)
    await hold.unlock()
  })

  it('Bare unlock() does not release a LockHold outside any scope', async () => {
    const hold = (await lock.tryAcquire())!
    await expectRefused(lock.unlock())
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })

  it('Bare unlock() does not release the level of withLock(), inside or outside its function', async () => {
    await lock.withLock(async (hold) => {
      await expectRefused(lock.unlock())
      expect(hold.isHeld).to.equal(true)
      expect(await lock.isLocked()).to.equal(true)
    })
    expect(await lock.isLocked()).to.equal(false)
  })

  it('Bare unlock() releases the bare level next to a LockHold, inner or outer', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const hold = await lock.acquire()
      await lock.unlock()
      expect((await ownerOf(redis, name)).count).to.equal(1)
      expect(hold.isHeld).to.equal(true)
      await expectRefused(lock.unlock())
      await lock.lock()
      await hold.unlock()
      expect(hold.isHeld).to.equal(false)
      expect((await ownerOf(redis, name)).count).to.equal(1)
      await lock.unlock()
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A LockHold never releases a bare level', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await lock.withLock(async () => {
        expect((await ownerOf(redis, name)).count).to.equal(2)
      })
      const hold = await lock.acquire()
      await hold.unlock()
      expect(await rejection(hold.unlock())).to.be.instanceOf(IllegalMonitorStateError)
      expect((await ownerOf(redis, name)).count).to.equal(1)
      await lock.unlock()
    })
  })
})
