import { expect } from 'chai'
import { LockLostError, RedissonShutdownError } from '../../src/index'
import { openRedis, rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { wireThreadId } from '../kit/observing'

describe('Errors', () => {
  clientAndRedis('errors')

  it('Errors of a loss name the lock, the client, the thread id on the wire and the way out', async () => {
    const hold = await redisson.getLock(name).acquire()
    const threadId = await wireThreadId(redis, name)
    await redis.del(name)
    const error = (await rejection(hold.unlock())) as LockLostError
    expect(error).to.be.instanceOf(LockLostError)
    expect(error).to.include({ lockName: name, threadId })
    for (const part of [name, redisson.getId(), `thread id ${threadId}`, 'acquire it again'])
      expect(error.message).to.include(part)
  })

  it('Errors of a lock that is not held name the lock, the client and the caller', async () => {
    for (const [call, who] of [
      [() => lock.unlock(), /earlier call of this lock object/],
      [() => redisson.run(() => lock.unlock()), /logical thread/],
      [() => lock.unlock({ threadId: 77 }), /threadId 77/],
    ] as const) {
      const { message } = await rejection(call())
      expect(message).to.match(who).and.include(name).and.include(redisson.getId())
      expect(message).to.match(/must release it/)
    }
    // With a hold elsewhere, its thread id and what to do.
    const hold = await lock.acquire()
    const { message } = await rejection(lock.unlock())
    expect(message)
      .to.include(`thread id ${hold.threadId}`)
      .and.match(/release it where it was acquired/)
    await hold.unlock()
  })

  it('Errors after shutdown are RedissonShutdownErrors from every call, naming the client', async () => {
    const hold = await lock.acquire()
    await redisson.shutdown({ timeout: 0 })
    expect(hold.signal.reason).to.be.instanceOf(RedissonShutdownError)
    for (const call of [
      () => lock.lock(),
      () => lock.tryLock(5),
      () => lock.acquire(),
      () => lock.tryAcquire(),
      () => lock.withLock(() => {}),
      () => lock.unlock(),
      () => hold.unlock(),
      () => lock.forceUnlock(),
      () => lock.isLocked(),
      () => lock.isHeldByCurrentThread(),
      () => lock.isHeldByThread(1),
      () => lock.getHoldCount(),
      () => lock.remainTimeToLive(),
    ]) {
      const error = await rejection(call())
      expect(error, String(call)).to.be.instanceOf(RedissonShutdownError)
      expect(error.message).to.include(redisson.getId())
    }
    await (await openRedis()).del(name)
  })

  it('An error has its name also where a bundle renames its class (V40)', () => {
    class me extends LockLostError {}
    expect(new me('lost', name).name).to.equal('LockLostError')
  })
})
