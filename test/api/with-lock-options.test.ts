import { expect } from 'chai'
import { LockTimeoutError, RedissonError } from '../../src/index'
import { rejection, timed } from '../kit/clients'
import { clientAndRedis, lock, name, redisson } from '../kit/each-test'
import { deferred } from '../kit/observing'

describe('The options of withLock', () => {
  clientAndRedis('with-lock')

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

  it('withLock refuses a threadId, and says what to use', async () => {
    const options = { threadId: 7 } as object
    for (const each of [lock, redisson.getMultiLock(lock)]) {
      const error = await rejection(each.withLock(() => expect.fail('it ran'), options))
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.include('redisson.run')
    }
    expect(await lock.isLocked()).to.equal(false)
  })
})
