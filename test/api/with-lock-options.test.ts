import { expect } from 'chai'
import { LockTimeoutError, type Redisson, RedissonError, type RLock } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { leftIn } from '../kit/left-in'
import { deferred, ownerOf } from '../kit/observing'

describe('The options of withLock', () => {
  let redisson: Redisson
  let name: string
  let lock: RLock

  beforeEach(async () => {
    redisson = await createRedisson()
    name = uniqueName('with-lock')
    lock = redisson.getLock(name)
  })
  afterEach(closeAll)

  it('withLock rejects with LockTimeoutError past its waitTime, and does not call the function', async () => {
    const held = await lock.acquire()
    let called = false
    const call = () => {
      called = true
    }
    const took = await timed(async () => {
      const error = await rejection(lock.withLock(call, { waitTime: 60 }))
      expect(error).to.be.instanceOf(LockTimeoutError).and.instanceOf(RedissonError)
      expect(error).to.include({ name: 'LockTimeoutError', code: 'LOCK_TIMEOUT', lockName: name })
      for (const word of [name, redisson.getId(), '60 ms']) expect(error.message).to.include(word)
    })
    expect(took).to.be.within(55, 5_000)
    for (const waitTime of [0, -1])
      expect(await rejection(lock.withLock(call, { waitTime }))).to.be.instanceOf(LockTimeoutError)
    await held.unlock()
    expect(called).to.equal(false)
    expect(await lock.isLocked()).to.equal(false)
  })

  it('withLock waits for as long as its waitTime, and without one without limit', async () => {
    const held = await lock.acquire()
    const waiting = [
      lock.withLock(() => 'patient', { waitTime: 30_000 }),
      lock.withLock(() => 'endless'),
      lock.withLock(() => 'endless, too', { waitTime: undefined }),
    ]
    await held.unlock()
    expect(await Promise.all(waiting)).to.deep.equal(['patient', 'endless', 'endless, too'])
    expect(await lock.withLock(() => 'free', { waitTime: 0 })).to.equal('free')
  })

  it('The waitTime of withLock holds for a branch that waits for its sibling', async () => {
    await lock.withLock(async () => {
      const leave = deferred()
      const inside = lock.withLock(() => leave.promise)
      expect(await rejection(lock.withLock(() => {}, { waitTime: 30 }))).to.be.instanceOf(LockTimeoutError)
      expect(await rejection(lock.withLock(() => {}, { waitTime: 0 }))).to.be.instanceOf(LockTimeoutError)
      leave.resolve()
      await inside
      expect(await lock.withLock(() => 'free', { waitTime: 0 })).to.equal('free')
    })
  })

  it('withLock with a threadId acquires for that caller, and the calls in its function re-enter that hold', async () => {
    const redis = await openRedis()
    await lock.withLock(
      async (hold) => {
        expect(await lock.isHeldByThread(7)).to.equal(true)
        expect(await lock.isHeldByCurrentThread()).to.equal(true)
        await lock.lock()
        expect(await lock.tryLock({ threadId: 7 })).to.equal(true)
        await redisson.getLock(name).withLock(async () => {
          expect((await ownerOf(redis, name)).count).to.equal(4)
        })
        expect(await lock.getHoldCount()).to.equal(3)
        await lock.unlock()
        await lock.unlock({ threadId: 7 })
        expect(await rejection(lock.unlock())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
        expect(await redisson.run(() => lock.tryLock())).to.equal(false)
        expect(await lock.tryLock({ threadId: 8 })).to.equal(false)
        expect(hold.isHeld).to.equal(true)
      },
      { threadId: 7 },
    )
    expect(await lock.isHeldByThread(7)).to.equal(false)
    expect(leftIn(redisson)).to.not.have.property('slots')
  })

  it('withLock with a threadId re-enters what that caller holds already', async () => {
    const redis = await openRedis()
    await lock.lock({ threadId: 7 })
    await lock.withLock(async () => expect((await ownerOf(redis, name)).count).to.equal(2), { threadId: 7 })
    expect((await ownerOf(redis, name)).count).to.equal(1)
    expect(await rejection(lock.withLock(() => {}, { threadId: 8, waitTime: 20 }))).to.be.instanceOf(
      LockTimeoutError,
    )
    await lock.unlock({ threadId: 7 })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('The threadId of withLock goes before the logical thread, whose other holds its function re-enters', async () => {
    const outer = redisson.getLock(uniqueName('with-lock'))
    await redisson.run(async () => {
      await outer.lock()
      await lock.withLock(
        async () => {
          expect(await outer.tryLock()).to.equal(true)
          await outer.unlock()
        },
        { threadId: 7 },
      )
      await lock.lock()
      expect(await rejection(lock.withLock(() => {}, { threadId: 7, waitTime: 0 }))).to.be.instanceOf(
        LockTimeoutError,
      )
      await lock.unlock()
      await outer.unlock()
    })
  })
})
