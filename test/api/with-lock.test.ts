import { expect } from 'chai'
import { LockLostError } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { blockEventLoop } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

describe('withLock() and its hold', () => {
  clientAndRedis('with-lock')

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

  it('A signal does not abort when withLock() has ended: it tells of losses only', async () => {
    const hold = await redisson.getLock(name).withLock((given) => given)
    expect([hold.isHeld, hold.signal.aborted]).to.deep.equal([false, false])
  })

  it('isHeld compares times when read: a lease that ended in a blocked event loop is over', async () => {
    const hold = await redisson.getLock(name).acquire({ leaseTime: 60 })
    blockEventLoop(80)
    // No timer had a chance to fire.
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.aborted).to.equal(true)
    expect(hold.signal.reason).to.be.instanceOf(LockLostError)
    expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
  })
})
