import { expect } from 'chai'
import { LockLostError } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { blockEventLoop, eventsOf, wireThreadId } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'

describe('A LockHold', () => {
  const sent = new SentScripts()

  clientAndRedis('hold', {}, { transport: sent.transport })

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
    const hold = await lock.tryAcquire()
    expect(hold?.isHeld).to.equal(true)
    expect(await lock.tryAcquire()).to.equal(undefined)
    await hold!.unlock()
    const later = await lock.tryAcquire({ waitTime: 1_000, leaseTime: 5_000 })
    expect(later?.isHeld).to.equal(true)
    await later!.unlock()
  })

  it('isHeld compares times when read: a lease that ended in a blocked event loop is over', async () => {
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

  it('After a blocked event loop isHeld is right at once, and signals abort next turn', async () => {
    const hold = await redisson.getLock(name).acquire({ leaseTime: 60 })
    const { signal } = hold
    blockEventLoop(80)
    expect(signal.aborted).to.equal(false)
    expect(hold.isHeld).to.equal(false)
    expect(signal.aborted).to.equal(true)
    const { signal: late } = await redisson.getLock(name).acquire({ leaseTime: 60 })
    blockEventLoop(80)
    await waitUntil('the signal aborts', () => late.aborted)
  })

  it('A signal does not abort when withLock() has ended: it tells of losses only', async () => {
    const hold = await redisson.getLock(name).withLock((given) => given)
    expect([hold.isHeld, hold.signal.aborted]).to.deep.equal([false, false])
  })

  it('A LockHold aborts its signal by itself when the lease runs out, which is no lockLost event', async () => {
    const lost = eventsOf(redisson, 'lockLost')
    const { signal } = await redisson.getLock(name).acquire({ leaseTime: 60 })
    await waitUntil('the signal aborts', () => signal.aborted)
    expect((signal.reason as LockLostError).code).to.equal('LOCK_LOST')
    expect((signal.reason as LockLostError).lockName).to.equal(name)
    expect(lost).to.deep.equal([])
  })
})
