import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { LockHold, Redisson } from '../../src/index'
import { luaSources } from '../../src/scripts/lua.generated'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { ScriptCounter, tapped } from '../kit/tapped-transport'

const HOUR = 3_600_000

/** A hold whose deadline has passed by our clocks is lost, though its key may still be there, with its own field. */
describe('A hold whose deadline has passed', () => {
  let clock: JumpingClock
  let sent: ScriptCounter

  redisAndName()
  beforeEach(() => {
    clock = new JumpingClock()
    sent = new ScriptCounter()
  })

  const client = () => createRedisson({}, { clock, transport: sent.transport })
  const freed = () => waitUntil('its key is gone', async () => (await redis.exists(name)) === 0, 5_000)

  for (const leaseTime of [undefined, HOUR])
    it(`release() of a permit ${leaseTime ? 'with a lease of its own' : 'of the watchdog'} frees it after a clock set forward (V108)`, async () => {
      const semaphore = (await client()).getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(1)
      const permit = await semaphore.acquirePermit({ leaseTime })
      clock.jumped = 2 * HOUR
      expect((await rejection(permit.release())).code).to.equal('PERMIT_NOT_HELD')
      await waitUntil('the permit is free', async () => (await redis.get(name)) === '1', 5_000)
    })

  const sides = {
    lock: (redisson: Redisson) => redisson.getLock(name),
    'read-lock': (redisson: Redisson) => redisson.getReadWriteLock(name).readLock(),
    'write-lock': (redisson: Redisson) => redisson.getReadWriteLock(name).writeLock(),
  }
  // The explicit lease of a plain lock ends by itself, on the server.
  for (const [kind, side] of Object.entries(sides))
    for (const leaseTime of kind === 'lock' ? [undefined] : [undefined, 60_000])
      it(`A ${kind} ${leaseTime ? 'with a lease of its own' : 'of the watchdog'} is free after the clock was set forward`, async () => {
        const lock = side(await client())
        await lock.lock({ leaseTime, threadId: 1 })
        clock.jumped = HOUR
        expect((await rejection(lock.unlock({ threadId: 1 }))).code).to.equal('LOCK_LOST')
        await freed()
        expect(await redis.keys(`*${name}*`)).to.deep.equal([])
        expect(sent.of(`${kind}/release`)).to.equal(1)
      })

  it('unlock() of a hold whose deadline has passed wakes the waiters of other clients', async () => {
    const hold = await (await client()).getLock(name).acquire()
    const waiting = (await createRedisson()).getLock(name).tryAcquire({ waitTime: 10_000 })
    clock.jumped = HOUR
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    await (await waiting)!.unlock()
  })

  for (const first of ['read', 'write'] as const)
    it(`unlock() past the deadline lets others write and read, the ${first} lock first`, async () => {
      const rw = (await createRedisson({}, { transport: sent.transport })).getReadWriteLock(name)
      await rw.writeLock().lock({ leaseTime: 300, threadId: 1 })
      await rw.readLock().lock({ threadId: 1 })
      await sleep(700)
      const unlockWrite = async () =>
        expect((await rejection(rw.writeLock().unlock({ threadId: 1 }))).code).to.equal('LOCK_LOST')
      if (first === 'write') await unlockWrite()
      await rw.readLock().unlock({ threadId: 1 })
      if (first === 'read') await unlockWrite()
      await freed()
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
      expect(sent.of('write-lock/release')).to.equal(1)
    })

  it("unlock() of a late write hold lets other readers in beside its caller's read hold", async () => {
    const other = (await createRedisson()).getReadWriteLock(name)
    const rw = (await createRedisson()).getReadWriteLock(name)
    await rw.writeLock().lock({ leaseTime: 300, threadId: 1 })
    await rw.readLock().lock({ threadId: 1 })
    const waiting = other.readLock().tryAcquire({ waitTime: 10_000 })
    await sleep(700)
    expect((await rejection(rw.writeLock().unlock({ threadId: 1 }))).code).to.equal('LOCK_LOST')
    await (await waiting)!.unlock()
    expect(await rw.readLock().isHeldByThread(1)).to.equal(true)
    await rw.readLock().unlock({ threadId: 1 })
    await freed()
  })

  it('unlock() of a read hold whose outer lease ran out leaves nothing among readers', async () => {
    const other = await (await createRedisson()).getReadWriteLock(name).readLock().acquire()
    const lock = (await createRedisson()).getReadWriteLock(name).readLock()
    await lock.lock({ leaseTime: 300, threadId: 1 })
    await lock.lock({ threadId: 1 })
    await sleep(700)
    await lock.unlock({ threadId: 1 })
    expect((await rejection(lock.unlock({ threadId: 1 }))).code).to.equal('LOCK_LOST')
    await waitUntil('only the other reads', async () => (await redis.hlen(name)) === 2, 5_000)
    await other.unlock()
  })

  it("unlock() of a hold whose deadline has passed leaves a successor's hold alone", async () => {
    const hold = await (await client()).getLock(name).acquire()
    await redis.del(name)
    const next = new ForeignLock(redis, name)
    await next.take(60_000)
    const before = await redis.hgetall(name)
    clock.jumped = HOUR
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    await waitUntil('the release was sent', () => sent.of('lock/release') === 1)
    await redis.ping()
    expect(await redis.hgetall(name)).to.deep.equal(before)
  })

  it('unlock() of two levels whose deadline has passed: one release is sent, and both were lost', async () => {
    const redisson = await client()
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      clock.jumped = HOUR
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      await freed()
      expect((await rejection(lock.lock())).code).to.equal('LOCK_LOST')
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(sent.of('lock/release')).to.equal(1)
      expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
      await lock.withLock(() => {})
    })
  })

  it('unlock() past the deadline sends nothing where the lease has surely ended', async () => {
    const redisson = await client()
    const brief = await redisson.getLock(name).acquire({ leaseTime: 50 })
    await sleep(120)
    expect((await rejection(brief.unlock())).code).to.equal('LOCK_LOST')
    const gone = await redisson.getLock(name).acquire()
    await redisson.getLock(name).forceUnlock()
    expect((await rejection(gone.unlock())).code).to.equal('LOCK_LOST')
    await redisson.shutdown()
    expect(sent.of('lock/release')).to.equal(0)
  })

  it('unlock() past the deadline frees the lock behind a renewal with a lost answer', async () => {
    // Known, or what is held back would be the answer that it is not.
    await redis.script('LOAD', luaSources['lock/renew'])
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 6_000 })
    const hold = await redisson.getLock(name).acquire()
    await sleep(1_500)
    proxy.stallReplies()
    await waitUntil('the hold counts as lost', () => !hold.isHeld, 10_000)
    const left = await redis.pttl(name)
    expect(left, 'renewed by the command whose answer is held back').to.be.greaterThan(1_000)
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    proxy.cut()
    proxy.resume()
    await waitUntil(
      'its key is gone before its lease',
      async () => (await redis.exists(name)) === 0,
      left - 500,
    )
  })
})

describe('A hold whose release is being sent', () => {
  it('A hold is not held any more while its release is sent, and is no loss (V214)', async () => {
    const clock = new JumpingClock()
    const seen: unknown[] = []
    let hold: LockHold | undefined
    // Like a tracing hook: code of the user that runs while the command is sent.
    const transport = tapped((sent) => {
      if (sent.name !== 'lock/release') return sent.pass()
      clock.jumped = HOUR
      seen.push(hold?.isHeld, hold?.signal.aborted)
      return sent.pass()
    })
    const redisson = await createRedisson({}, { transport, clock })
    redisson.on('lockLost', (event) => seen.push(event))
    hold = await redisson.getLock(uniqueName('releasing')).acquire()
    await hold.unlock()
    expect(seen.slice(0, 2)).to.deep.equal([false, false])
    expect(seen).to.have.lengthOf(2)
  })

  it('A release that arrives after the explicit lease of a hold or a permit is no loss (V219)', async () => {
    const transport = tapped(async (sent) => {
      if (sent.name.endsWith('/release')) await sleep(300)
      return await sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const seen: unknown[] = []
    redisson.on('lockLost', (event) => seen.push(event)).on('permitLost', (event) => seen.push(event))
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('releasing'))
    await semaphore.trySetPermits(1)
    const hold = await redisson.getLock(uniqueName('releasing')).acquire({ leaseTime: 200 })
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    const permit = await semaphore.acquirePermit({ leaseTime: 200 })
    expect((await rejection(permit.release())).code).to.equal('PERMIT_NOT_HELD')
    expect(seen).to.deep.equal([])
  })
})
