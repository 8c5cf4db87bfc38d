import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type LockLostEvent, type RenewalFailedEvent } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { JumpingClock } from '../kit/jumping-clock'
import { deferred } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'

describe('a lost lock', () => {
  redisAndName()

  /** Nothing of this process runs for so long: no timer, no socket. */
  function blockEventLoop(ms: number) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  }

  async function lossesOf(lockWatchdogTimeout: number, url?: string) {
    const redisson = await createRedisson({ lockWatchdogTimeout, ...(url ? { redis: url } : {}) })
    const lost: LockLostEvent[] = []
    const failed: RenewalFailedEvent[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    redisson.on('renewalFailed', (event) => failed.push(event))
    return { redisson, lost, failed }
  }

  for (const what of ['a lock', 'a multi lock'])
    it(`The first unlock() of a thread with two levels of ${what} tells why they were lost`, async () => {
      const clock = new JumpingClock()
      const redisson = await createRedisson({}, { clock })
      const own = redisson.getLock(name)
      const lock = what === 'a lock' ? own : redisson.getMultiLock(own, redisson.getLock(`${name}2`))
      await redisson.run(async () => {
        await lock.lock()
        await lock.lock()
        // Nothing of the client notices it before the unlock().
        clock.jumped = 60_000
        const { code, reason, threadId } = (await rejection(lock.unlock())) as LockLostError
        expect({ code, reason }).to.deep.equal({ code: 'LOCK_LOST', reason: 'lease' })
        expect(threadId).to.be.a('number')
        expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
        expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
      })
    })

  it('After an event loop blocked past the lease, the first question answers lost (B10)', async () => {
    const { redisson, lost } = await lossesOf(600)
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire()
    const { signal } = hold
    blockEventLoop(800)
    // In this very turn: no timer had a chance to run.
    expect(hold.isHeld).to.equal(false)
    expect(signal.aborted).to.equal(true)
    expect(signal.reason).to.be.instanceOf(LockLostError)
    expect(lost.map(({ lockName, threadId, reason }) => ({ lockName, threadId, reason }))).to.deep.equal([
      { lockName: lock.getName(), threadId: hold.threadId, reason: 'lease' },
    ])
    expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
  })

  it('An unlock() after an event loop blocked past the lease leaves the next holder alone (B10)', async () => {
    const { redisson } = await lossesOf(600)
    const lock = redisson.getLock(uniqueName())
    await lock.lock()
    blockEventLoop(800)
    const unlocking = rejection(lock.unlock())
    await waitUntil('the lease has run out', async () => (await redis.exists(lock.getName())) === 0)
    const next = new ForeignLock(redis, lock.getName())
    await next.take(10_000)
    expect(await unlocking).to.be.instanceOf(LockLostError)
    await sleep(100)
    expect(await redis.hlen(lock.getName())).to.equal(1)
  })

  it('The signal of a lost hold aborts although nothing asks for it (B10)', async () => {
    const { redisson } = await lossesOf(600)
    const hold = await redisson.getLock(uniqueName()).acquire({ leaseTime: 600 })
    const aborted = new Promise<void>((resolve) => {
      hold.signal.addEventListener('abort', () => resolve())
    })
    blockEventLoop(800)
    await aborted
  })

  it('A key that is gone is reported lost, and the lock is not acquired again (B8)', async () => {
    const { redisson, lost } = await lossesOf(900)
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire()
    await redis.del(lock.getName())
    await waitUntil('the loss is reported', () => lost.length > 0)
    expect(lost).to.have.length(1)
    const { clientId, address, ...event } = lost[0]!
    expect(clientId).to.equal(redisson.getId())
    expect(`${(await sharedStandalone()).url}/0`).to.contain(address)
    expect({ ...event, error: undefined }).to.deep.equal({
      lockName: lock.getName(),
      kind: 'lock',
      owner: hold.owner,
      threadId: hold.threadId,
      reason: 'gone',
      error: undefined,
    })
    expect(lost[0]!.error).to.be.instanceOf(LockLostError)
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.reason).to.be.instanceOf(LockLostError)
    expect(await redis.exists(lock.getName())).to.equal(0)
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
  })

  it('A lost hold rejects re-entry until it is settled (B8)', async () => {
    const { redisson, lost } = await lossesOf(900)
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await redis.del(lock.getName())
      await waitUntil('the loss is reported', () => lost.length > 0)
      expect((await rejection(lock.lock())).code).to.equal('LOCK_LOST')
      expect(await redis.exists(lock.getName())).to.equal(0)
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      await lock.lock()
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('A lost hold lets the waiters of its process in at once (B8)', async () => {
    const { redisson, lost } = await lossesOf(3_000)
    const lock = redisson.getLock(uniqueName())
    await lock.acquire()
    const waiting = lock.acquire()
    const key = new ForeignLock(redis, lock.getName())
    await waitUntil('it waits', async () => (await key.listeners()) === 1)
    await sleep(50)
    // By hand and without a message: only the renewal that finds it gone can tell the waiter.
    await key.vanish()
    await (await waiting).unlock()
    expect(lost).to.have.length(1)
  })

  it('An explicit lease that ends aborts the signal and is no loss (guarantee 5)', async () => {
    const { redisson, lost } = await lossesOf(900)
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      const hold = await lock.acquire({ leaseTime: 500 })
      const { signal } = hold
      await waitUntil('it has run out', () => signal.aborted)
      // Earlier than Redis lets anybody else in.
      expect(await redis.exists(lock.getName())).to.equal(1)
      expect(hold.isHeld).to.equal(false)
      const again = await lock.acquire()
      expect(again.threadId).not.to.equal(hold.threadId)
      expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
      expect(again.isHeld).to.equal(true)
      await again.unlock()
    })
    expect(lost).to.deep.equal([])
  })

  it('A loss is noticed before Redis lets another in, though the connection is silent', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const { redisson, lost, failed } = await lossesOf(1_500, proxy.url)
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire()
    let noticed = 0
    hold.signal.addEventListener('abort', () => {
      noticed = performance.now()
    })
    const other = await createRedisson()
    const successor = other.getLock(lock.getName()).acquire()
    proxy.stall()
    await successor
    const taken = performance.now()
    expect(noticed).to.be.within(1, taken)
    expect(hold.isHeld).to.equal(false)
    expect(lost.map(({ reason }) => reason)).to.deep.equal(['lease'])
    // The renewal without an answer was reported first, once.
    expect(failed.map(({ lockName, threadId }) => ({ lockName, threadId }))).to.deep.equal([
      { lockName: lock.getName(), threadId: hold.threadId },
    ])
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    proxy.resume()
    await sleep(100)
    expect((await successor).isHeld).to.equal(true)
    expect(await other.getLock(lock.getName()).isLocked()).to.equal(true)
  })

  it('A loss is noticed before Redis lets another in, though the server is away', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const { redisson, lost, failed } = await lossesOf(1_500, proxy.url)
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire()
    const { signal } = hold
    const other = await createRedisson()
    const successor = other.getLock(lock.getName()).acquire()
    proxy.breakOff()
    await successor
    expect(signal.aborted).to.equal(true)
    expect(lost.map(({ reason }) => reason)).to.deep.equal(['lease'])
    expect(lost[0]!.error).to.equal(signal.reason)
    expect(failed).to.have.length(1)
    expect(failed[0]!.error).to.be.instanceOf(Error)
  })

  it('An acquisition answered past its deadline is confirmed first (guarantee 5)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const { redisson } = await lossesOf(30_000, proxy.url)
    proxy.stallReplies()
    const acquiring = redisson.getLock(name).acquire({ leaseTime: 500 })
    await waitUntil('the server granted it', async () => (await redis.exists(name)) === 1)
    await waitUntil('and it has run out', async () => (await redis.exists(name)) === 0)
    const next = new ForeignLock(redis, name)
    await next.take(60_000)
    proxy.resume()
    // Handed out now, it would be a second holder.
    expect(await Promise.race([acquiring.then(() => 'acquired'), sleep(300, 'waits')])).to.equal('waits')
    await next.release()
    const hold = await acquiring
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })

  for (const kind of ['a plain lock', 'a multi lock'])
    it(`A child whose level of ${kind} was lost acquires nothing before its unlock()`, async () => {
      const { redisson } = await lossesOf(30_000)
      const [lock, other] = [redisson.getLock(name), redisson.getLock(uniqueName())]
      const own = kind === 'a plain lock' ? lock : redisson.getMultiLock(lock, redisson.getLock(`${name}:2`))
      const [entered, settled] = [deferred(), deferred()]
      await redisson.run(async () => {
        await own.lock()
        const child = other.withLock(async () => {
          await own.lock()
          await lock.forceUnlock()
          entered.resolve()
          await settled.promise
          expect((await rejection(own.lock())).name, 'its parent has settled').to.equal('LockLostError')
          expect((await rejection(own.unlock())).name).to.equal('LockLostError')
          await own.lock()
          await own.unlock()
        })
        await entered.promise
        expect((await rejection(own.unlock())).name).to.equal('LockLostError')
        settled.resolve()
        await child
      })
    })
})
