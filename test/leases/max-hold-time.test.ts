import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, PermitNotHeldError, type RedissonOptions } from '../../src/index'
import type { Primitive } from '../contract/primitive'
import {
  fairLock,
  fencedLock,
  nonReentrantLock,
  plainLock,
  readLock,
  spinLock,
  tokenLock,
  writeLock,
} from '../contract/primitives'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'

const KINDS = [plainLock, fairLock, fencedLock, spinLock, nonReentrantLock, readLock, writeLock, tokenLock]
const REENTRANT = KINDS.filter(({ nonReentrant }) => !nonReentrant)
/** How much later than it was sent a command may take effect on a busy machine, in ms. */
const LATE = 300

describe('maxHoldTime (guarantees 5 and 6)', () => {
  redisAndName()

  const open = (options: Partial<RedissonOptions> = {}) => createRedisson(options)
  const each = (kinds: readonly Primitive[], check: (kind: Primitive) => Promise<void>) =>
    Promise.all(
      kinds.map((kind) =>
        check(kind).catch((error) => {
          throw Object.assign(error, { message: `${kind.name}: ${error.message}` })
        }),
      ),
    )
  const leaseOf = async (kind: Primitive, name: string) => Math.max(...(await kind.timesToLive(redis, name)))

  it('A hold is renewed up to its maxHoldTime, no lease ends later, it is told before', async () => {
    const limit = 2_600
    const redisson = await open({ lockWatchdogTimeout: 1_500 })
    const lost: object[] = []
    redisson.on('lockLost', ({ lockName, reason }) => lost.push({ lockName, reason }))
    await each(KINDS, async (kind) => {
      const name = uniqueName()
      const hold = await kind.create(redisson, name).acquire({ maxHoldTime: limit })
      const granted = performance.now()
      let end = 0
      while (!hold.signal.aborted) {
        const asked = performance.now() - granted
        const seen = asked + (await leaseOf(kind, name))
        expect(seen, 'when the lease ends').to.be.below(limit + LATE)
        expect(seen, 'the TTL never shrinks').to.be.above(end - LATE)
        end = Math.max(end, seen)
        await sleep(20)
      }
      expect(end, 'renewed').to.be.above(2_500)
      expect(performance.now() - granted, 'told')
        .to.be.above(1_500)
        .and.below(limit + LATE)
      const { reason } = hold.signal
      expect(reason).to.be.instanceOf(LockLostError)
      expect(reason.reason).to.equal('limit')
      expect(reason.message).to.contain('maxHoldTime of 2600 ms')
      expect(hold.isHeld).to.equal(false)
      expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
      expect(lost).to.deep.include({ lockName: name, reason: 'limit' })
      await waitUntil('the key ran out', async () => (await redis.exists(name)) === 0, 1_000)
    })
  })

  it('A crash frees the lock within lockWatchdogTimeout, and a shorter limit is the first lease', async () => {
    const redisson = await open({ lockWatchdogTimeout: 30_000 })
    await each(KINDS, async (kind) => {
      for (const [maxHoldTime, most] of [
        [600_000, 30_000],
        [5_000, 5_000],
      ] as const) {
        const name = uniqueName()
        const hold = await kind.create(redisson, name).acquire({ maxHoldTime })
        expect(await leaseOf(kind, name))
          .to.be.at.most(most)
          .and.above(most - 3_000)
        await hold.unlock()
        await kind.expectNothingLeft(redis, name)
      }
    })
  })

  it('A re-entry never prolongs a limited hold, neither a partial release, whatever their leases', async () => {
    const redisson = await open()
    await each(REENTRANT, async (kind) => {
      const name = uniqueName()
      const lock = kind.create(redisson, name)
      const most = async () => expect(await leaseOf(kind, name), kind.name).to.be.at.most(8_005)
      await redisson.run(async () => {
        await lock.lock({ maxHoldTime: 8_000 })
        for (const options of [{}, { leaseTime: 60_000 }, { maxHoldTime: 60_000 }]) {
          await lock.lock(options)
          await most()
        }
        for (let level = 0; level < 3; level++) {
          await lock.unlock()
          await most()
        }
        expect(await lock.getHoldCount()).to.equal(1)
        await lock.unlock()
      })
      await kind.expectNothingLeft(redis, name)
    })
  })

  it('A limited re-entry below an unlimited hold is a TypeError, and the hold stays', async () => {
    const redisson = await open()
    await each(REENTRANT, async (kind) => {
      const lock = kind.create(redisson, uniqueName())
      await redisson.run(async () => {
        await lock.lock()
        const error = await rejection(lock.lock({ maxHoldTime: 1_000 }))
        expect(error).to.be.instanceOf(TypeError)
        expect(error.message).to.contain('held without a maxHoldTime already')
        expect(await lock.getHoldCount()).to.equal(1)
        await lock.unlock()
      })
    })
  })

  it('The limit of the client applies to every call without a leaseTime, and to no re-entry', async () => {
    const redisson = await open({ maxHoldTime: 4_000 })
    const lock = redisson.getLock(name)
    const fenced = redisson.getFencedLock(name)
    const expectLease = async (most: number) =>
      expect(await redis.pttl(name))
        .to.be.at.most(most)
        .and.above(most - 2_000)
    for (const acquire of [
      () => lock.lock(),
      () => lock.tryLock(),
      () => lock.tryLock(1_000),
      () => fenced.lockAndGetToken(),
      () => fenced.tryLockAndGetToken(),
    ]) {
      await acquire()
      await expectLease(4_000)
      await redis.del(name)
      await rejection(lock.unlock())
      await rejection(fenced.unlock())
    }
    await lock.withLock(() => expectLease(4_000))
    await lock.withLock(() => expectLease(9_000), { maxHoldTime: 9_000 })
    await lock.withLock(() => expectLease(9_000), { leaseTime: 9_000 })
    await redisson.run(async () => {
      await lock.lock(9_000)
      await lock.lock()
      await expectLease(30_000)
      await lock.unlock()
      await lock.unlock()
    })
  })

  it('Bad limits are refused before anything is sent', async () => {
    const redisson = await open()
    const lock = redisson.getLock(uniqueName())
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName())
    const calls = [
      (options: object) => lock.lock(options),
      (options: object) => lock.tryLock(options),
      (options: object) => lock.acquire(options),
      (options: object) => lock.tryAcquire(options),
      (options: object) => lock.withLock(() => {}, options),
      (options: object) => semaphore.acquirePermit(options),
      (options: object) => semaphore.tryAcquirePermit(options),
      (options: object) => semaphore.withPermit(() => {}, options),
    ]
    for (const call of calls) {
      for (const maxHoldTime of [0, -2, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
        expect(await rejection(call({ maxHoldTime })), String(maxHoldTime)).to.be.instanceOf(RangeError)
      for (const options of [{ maxHoldTime: '1s' }, { maxHoldTime: 1_000, leaseTime: 1_000 }])
        expect(await rejection(call(options)), JSON.stringify(options)).to.be.instanceOf(TypeError)
    }
    expect(await rejection(open({ maxHoldTime: 0 }))).to.be.instanceOf(RangeError)
    expect(await redis.exists(lock.getName(), semaphore.getName())).to.equal(0)
  })

  it('Work that never ends lets the next owner in when its limit is over, and is told before', async () => {
    const [redisson, other] = await Promise.all([open({ lockWatchdogTimeout: 1_500 }), open()])
    let reason: unknown
    void redisson
      .getLock(name)
      .withLock(
        (hold) =>
          new Promise(() => {
            hold.signal.addEventListener('abort', () => {
              reason = hold.signal.reason.reason
            })
          }),
        { maxHoldTime: 1_200 },
      )
      .catch(() => {})
    await waitUntil('it is held', async () => (await redis.exists(name)) === 1)
    const next = await other.getLock(name).acquire()
    expect(reason).to.equal('limit')
    await next.unlock()
  })

  it('The next caller of this process gets a limit of its own, also by a handoff', async () => {
    const redisson = await open()
    await each([plainLock, tokenLock], async (kind) => {
      const name = uniqueName()
      const first = await kind.create(redisson, name).acquire()
      const next = kind.create(redisson, name).acquire({ maxHoldTime: 5_000 })
      await first.unlock()
      const hold = await next
      expect(await redis.pttl(name)).to.be.at.most(5_000)
      await hold.unlock()
    })
  })

  it('A multi lock and a RedLock end with the limits of their members, reason limit', async () => {
    const redisson = await open({ lockWatchdogTimeout: 900 })
    for (const kind of ['getMultiLock', 'getRedLock'] as const) {
      const names = [uniqueName(), uniqueName(), uniqueName()]
      const hold = await redisson[kind](...names.map((name) => redisson.getLock(name))).acquire({
        maxHoldTime: 1_200,
      })
      const granted = performance.now()
      await once(hold.signal, 'abort')
      expect(performance.now() - granted)
        .to.be.above(900)
        .and.below(1_200 + LATE)
      expect(hold.signal.reason.reason).to.equal('limit')
      const error = (await rejection(hold.unlock())) as LockLostError
      expect(error.reason).to.equal('limit')
      await waitUntil('they ran out', async () => (await redis.exists(names)) === 0, 1_000)
    }
  })

  it('A permit ends with its limit: permitLost says so, and the next caller gets it', async () => {
    const redisson = await open({ lockWatchdogTimeout: 900 })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName())
    await semaphore.trySetPermits(1)
    const lost = once(redisson as never, 'permitLost')
    // The limit counts from when the command was sent.
    const asked = performance.now()
    const permit = await semaphore.acquirePermit({ maxHoldTime: 1_200 })
    const { signal } = permit
    const next = await semaphore.acquirePermit()
    expect(performance.now() - asked)
      .to.be.above(1_000)
      .and.below(1_200 + LATE + 1_000)
    expect(signal.reason).to.be.instanceOf(PermitNotHeldError)
    expect(signal.reason.reason).to.equal('limit')
    expect((await lost)[0]).to.include({ permitId: permit.id, reason: 'limit' })
    expect(await rejection(permit.release())).to.be.instanceOf(PermitNotHeldError)
    await next.release()
  })

  it('A job of runOnce() is told of its limit, which may not be below atLeast', async () => {
    const redisson = await open({ lockWatchdogTimeout: 900 })
    const started = performance.now()
    const error = await rejection(
      redisson.runOnce(name, async ({ signal }) => void (await once(signal, 'abort')), {
        atLeast: 300,
        maxHoldTime: 1_200,
      }),
    )
    expect((error as LockLostError).reason).to.equal('limit')
    expect(performance.now() - started)
      .to.be.above(900)
      .and.below(1_200 + LATE)
    const run = (maxHoldTime?: number) =>
      redisson.runOnce(name, () => {}, { atLeast: 2_000, ...(maxHoldTime ? { maxHoldTime } : {}) })
    expect(await rejection(run(1_999))).to.be.instanceOf(RangeError)
    expect(
      await rejection((await open({ maxHoldTime: 1 })).runOnce(name, () => {}, { atLeast: 2 })),
    ).to.be.instanceOf(RangeError)
  })
})
