import { expect } from 'chai'
import { rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { deferred, ownerOf } from '../kit/observing'

describe('The thread that withLock() opens', () => {
  clientAndRedis('with-lock')

  it('The thread of withLock() re-enters its own hold by every call and object', async () => {
    const nested = () =>
      redisson.getLock(name).withLock(async () => {
        const lock = redisson.getLock(name)
        await lock.lock()
        expect(await lock.tryLock()).to.equal(true)
        const hold = await lock.acquire()
        await lock.withLock(async () => {
          expect((await ownerOf(redis, name)).count).to.equal(5)
          expect(await lock.getHoldCount()).to.equal(5)
        })
        await hold.unlock()
        await lock.unlock()
        await lock.unlock()
        expect(await lock.getHoldCount()).to.equal(1)
      })
    await nested()
    await redisson.run(nested)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('The thread that withLock() opens re-enters what its ancestors hold', async () => {
    const between = redisson.getLock(uniqueName('with-lock'))
    await redisson.run(async () => {
      await lock.lock()
      await between.withLock(() =>
        redisson.getLock(uniqueName('with-lock')).withLock(async () => {
          expect(await lock.tryLock()).to.equal(true)
          expect(await between.tryLock()).to.equal(true)
          await between.unlock()
          await lock.unlock()
        }),
      )
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('The thread that withLock() opens has holds of its own, which exclude its parent', async () => {
    const other = redisson.getLock(uniqueName('with-lock'))
    await redisson.run(async () => {
      await other.withLock(async () => {
        await lock.lock()
      })
      // The child ended without releasing; Java's thread would hold it, ours is gone.
      expect(await lock.tryLock()).to.equal(false)
    })
  })

  it('The thread that withLock() opens is not the parent of code beside it', async () => {
    const entered = deferred()
    const leave = deferred()
    const inside = lock.withLock(async () => {
      entered.resolve()
      await leave.promise
    })
    await entered.promise
    expect(await lock.tryLock()).to.equal(false)
    expect(await redisson.getLock(name).isHeldByCurrentThread()).to.equal(false)
    leave.resolve()
    await inside
  })

  it('The thread of withLock() ends with its function: the rest no longer re-enters', async () => {
    const outer = redisson.getLock(uniqueName('with-lock'))
    const go = deferred()
    await redisson.run(async () => {
      await outer.lock()
      let left!: Promise<unknown[]>
      await lock.withLock(() => {
        left = go.promise.then(async () => [
          await outer.tryLock(),
          await outer.isHeldByCurrentThread(),
          (await rejection(outer.unlock())).code,
        ])
      })
      go.resolve()
      // Its parent lives on, but it was part of the child, and that has ended.
      expect(await left).to.deep.equal([false, false, 'ILLEGAL_MONITOR_STATE'])
      expect(await outer.getHoldCount()).to.equal(1)
      await outer.unlock()
    })
  })

  it('The thread that withLock() opens outlives its parent without what that never released', async () => {
    const go = deferred()
    let left!: Promise<unknown[]>
    await redisson.run(async () => {
      await lock.lock()
      left = redisson.getLock(uniqueName('with-lock')).withLock(async () => {
        await go.promise
        return [await lock.tryLock(), (await rejection(lock.unlock())).code]
      })
    })
    go.resolve()
    expect(await left).to.deep.equal([false, 'ILLEGAL_MONITOR_STATE'])
  })

  it('A thread of withLock() in code that a finished thread left has no ancestors', async () => {
    const go = deferred()
    let left!: Promise<boolean>
    await redisson.run(async () => {
      await lock.lock()
      left = go.promise.then(() => redisson.getLock(uniqueName('with-lock')).withLock(() => lock.tryLock()))
    })
    go.resolve()
    expect(await left).to.equal(false)
  })
})
