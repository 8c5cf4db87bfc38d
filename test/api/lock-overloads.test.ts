import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, timed } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { ownerOf } from '../kit/observing'

describe('lock() and tryLock(), every way of calling them', () => {
  clientAndRedis('overloads')

  /** Acquires, reads the lease that was set, releases. */
  async function leaseOf(acquire: () => Promise<unknown>): Promise<number> {
    const lock = redisson.getLock(name)
    expect(await acquire()).to.not.equal(false)
    const lease = await redis.pttl(name)
    await lock.forceUnlock()
    return lease
  }

  /** At most what was asked for; some of it has passed already, on a slow machine several seconds. */
  function expectLease(actual: number, asked: number) {
    expect(actual)
      .to.be.at.most(asked)
      .and.at.least(asked - 8_000)
  }

  it('lock() and tryLock() take a lease after a wait, in a unit or as an option', async () => {
    expectLease(await leaseOf(() => lock.lock()), 30_000)
    expectLease(await leaseOf(() => lock.lock(70, TimeUnit.SECONDS)), 70_000)
    expectLease(await leaseOf(() => lock.lock({ leaseTime: 50_000, threadId: 4 })), 50_000)
    expectLease(await leaseOf(() => lock.tryLock(1, TimeUnit.SECONDS)), 30_000)
    expectLease(await leaseOf(() => lock.tryLock(1, 70, TimeUnit.SECONDS)), 70_000)
    expectLease(await leaseOf(() => lock.tryLock({ waitTime: 5, leaseTime: 60_000, threadId: 5 })), 60_000)
  })

  it('acquire(), tryAcquire() and withLock() take the same lease', async () => {
    expectLease(await leaseOf(() => lock.acquire()), 30_000)
    expectLease(await leaseOf(() => lock.acquire({ leaseTime: 50_000 })), 50_000)
    expectLease(await leaseOf(() => lock.tryAcquire({ leaseTime: 50_000, waitTime: 1 })), 50_000)
    expectLease(await lock.withLock(() => redis.pttl(name), { leaseTime: 50_000 }), 50_000)
    expectLease(await lock.withLock(() => redis.pttl(name)), 30_000)
  })

  it('tryLock() waits as long as the unit says, and tries once for nothing or less', async () => {
    const other = await createRedisson()
    await other.getLock(name).lock()
    for (const wait of [
      () => lock.tryLock(60),
      () => lock.tryLock(60_000, TimeUnit.MICROSECONDS),
      () => lock.tryLock(0.06, 1, TimeUnit.SECONDS),
      () => lock.tryLock({ waitTime: 60 }),
      async () => (await lock.tryAcquire({ waitTime: 60 })) !== undefined,
    ])
      expect(
        await timed(async () => {
          expect(await wait()).to.equal(false)
        }),
      ).to.be.within(55, 5_000)
    for (const wait of [0, -1, -5, -0.5, -(2 ** 53)]) {
      expect(await lock.tryLock(wait)).to.equal(false)
      expect(await lock.tryLock(wait, 1_000)).to.equal(false)
      expect(await lock.tryLock({ waitTime: wait })).to.equal(false)
      expect(await lock.tryAcquire({ waitTime: wait })).to.equal(undefined)
    }
    expect((await ownerOf(redis, name)).field.startsWith(other.getId())).to.equal(true)
  })

  it('TimeUnits name themselves and convert', () => {
    expect(TimeUnit.SECONDS.toMillis(2)).to.equal(2_000)
    expect(TimeUnit.DAYS.toMillis(1)).to.equal(86_400_000)
    expect(String(TimeUnit.MICROSECONDS)).to.equal('MICROSECONDS')
    expect(Object.isFrozen(TimeUnit.SECONDS)).to.equal(true)
  })
})
