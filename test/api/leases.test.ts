import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'

/** Far enough apart that no slow machine mistakes one for another. */
const SHORT = 100_000
const LONG = 500_000
const WATCHDOG = 30_000

describe('a lease belongs to a hold and to a level of it', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string

  beforeEach(async () => {
    redisson = await createRedisson()
    redis = await openRedis()
    name = uniqueName('lease')
  })
  afterEach(closeAll)

  async function expectLease(lease: number) {
    // A re-entry keeps its lease's end a few ms apart from that of a level released just before.
    expect(await redis.pttl(name))
      .to.be.at.most(lease + 5)
      .and.above(lease - WATCHDOG + 1_000)
  }

  it("atlas B4: one caller's lease does not leak into the next one's hold on the same object", async () => {
    const lock = redisson.getLock(name)
    await lock.lock(LONG)
    await lock.unlock()
    await lock.lock()
    await expectLease(WATCHDOG)
    await lock.unlock()
    expect(await lock.tryLock(0, SHORT)).to.equal(true)
    await expectLease(SHORT)
    await lock.unlock()
    await redisson.run(async () => {
      await lock.lock()
      await expectLease(WATCHDOG)
      await lock.unlock()
    })
  })

  it('atlas B4: nor does that of one lock into another', async () => {
    const other = redisson.getLock(uniqueName('lease'))
    await redisson.run(async () => {
      await other.lock(LONG)
      await redisson.getLock(name).lock()
      await expectLease(WATCHDOG)
      await other.unlock()
    })
  })

  it("atlas B5: a partial unlock leaves the hold's lease, not the default", async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock(LONG)
      await lock.lock(LONG)
      await lock.unlock()
      await expectLease(LONG)
      await lock.lock()
      await expectLease(LONG)
      await lock.unlock()
      await expectLease(LONG)
      await lock.unlock()
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('atlas B5: through another object of the name, too', async () => {
    await redisson.run(async () => {
      await redisson.getLock(name).lock(LONG)
      await redisson.getLock(name).lock(LONG)
      await redisson.getLock(name).unlock()
      await expectLease(LONG)
    })
  })

  it('a shorter inner lease never shortens the outer one, a longer one goes with its level', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock(SHORT)
      await lock.lock(5_000)
      await expectLease(SHORT)
      await lock.unlock()
      await expectLease(SHORT)
      await lock.lock(LONG)
      await expectLease(LONG)
      await lock.unlock()
      await expectLease(SHORT)
      await lock.unlock()
    })
  })

  it('a token released out of turn takes its own lease along', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      const long = await lock.acquire({ leaseTime: LONG })
      const short = await lock.acquire({ leaseTime: SHORT })
      await expectLease(LONG)
      await long.unlock()
      await expectLease(SHORT)
      await short.unlock()
    })
  })

  it('a watchdog level under an explicit one is renewed on, though the explicit lease is over', async () => {
    const brief = await createRedisson({ lockWatchdogTimeout: 2_000 })
    const lock = brief.getLock(name)
    await brief.run(async () => {
      const outer = await lock.acquire()
      await lock.lock(100)
      await new Promise((resolve) => setTimeout(resolve, 2_400))
      expect(outer.isHeld).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await outer.unlock()
    })
  })

  it('an explicit lease that ran out lets its caller start afresh', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock(500)
      await lock.lock(500)
      // Takes the place of an expiry: the lock must be free, and this call must not re-enter.
      await new Promise((resolve) => setTimeout(resolve, 520))
      await lock.lock(LONG)
      expect(await lock.getHoldCount()).to.equal(1)
      await expectLease(LONG)
      await lock.unlock()
      expect(await redis.exists(name)).to.equal(0)
      // The two levels that ran out are still owed an answer.
      for (let level = 0; level < 2; level++)
        expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
    })
  })
})
