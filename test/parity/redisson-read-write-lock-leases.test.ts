import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'

/** Redisson's own tests of RReadWriteLock that wait for leases; times are a tenth and less of theirs. */
describe("Redisson's tests of a read-write lock's leases", () => {
  it('RedissonReadWriteLockTest.testReadLockExpiration: waits for the longer lease', async () => {
    const { redisson, both } = await openLock()
    const reader = (lease: number, holdMs: number) =>
      redisson.run(async () => {
        await both.readLock().lock(lease)
        await sleep(holdMs)
        await both.readLock().unlock()
      })
    const readers = [reader(5_000, 1_510)]
    await sleep(30)
    readers.push(reader(1_000, 280))
    await sleep(30)
    const took = await timed(() => both.writeLock().withLock(() => {}, { leaseTime: 2_000 }))
    // At the end of the shorter lease it would be some 950 ms, without a wake-up more than 4 s.
    expect(took).to.be.within(1_380, 3_000)
    await Promise.all(readers)
  })

  it('RedissonReadWriteLockTest.testReadLockExpirationRenewal: fifty readers are renewed', async () => {
    const { redisson, both } = await openLock({ lockWatchdogTimeout: 400 })
    const reader = () =>
      redisson.run(async () => {
        await both.readLock().lock()
        await sleep(700)
        expect(await both.writeLock().tryLock()).to.equal(false)
        await both.readLock().unlock()
      })
    await Promise.all(Array.from({ length: 50 }, reader))
    expect(await both.readLock().isLocked()).to.equal(false)
  })

  it('RedissonReadWriteLockTest.testWriteLockExpiration: a shorter inner lease, no entry', async () => {
    const { redisson, both } = await openLock()
    const write = both.writeLock()
    await redisson.run(async () => {
      expect(await write.tryLock(1_000, 1_000)).to.equal(true)
      expect(await write.tryLock(100, 100)).to.equal(true)
      expect(await redisson.run(() => write.tryLock(300, 100))).to.equal(false)
      await write.forceUnlock()
    })
  })

  it('RedissonReadWriteLockTest.testReadLockLeaseTimeoutDiffThreadsWRR: both enter', async () => {
    const { redisson, both } = await openLock()
    expect(await redisson.run(() => both.writeLock().tryLock(100, 600))).to.equal(true)
    const reader = () => redisson.run(() => both.readLock().lock())
    expect(await timed(() => Promise.all([reader(), reader()]))).to.be.within(500, 850)
    expect(await both.readLock().forceUnlock()).to.equal(true)
  })

  it('RedissonReadWriteLockTest.testReadLockLeaseTimeoutDiffThreadsRRW: no longer wait', async () => {
    const { redisson, both } = await openLock()
    const [read, write] = [both.readLock(), both.writeLock()]
    expect(await redisson.run(() => read.tryLock(100, 600))).to.equal(true)
    await sleep(300)
    await redisson.run(async () => {
      expect(await read.tryLock(100, 2_000)).to.equal(true)
      await read.unlock()
    })
    const took = await timed(async () => {
      expect(await redisson.run(() => write.tryLock(1_500, 1_000))).to.equal(true)
    })
    expect(took).to.be.within(150, 550)
    await write.forceUnlock()
  })

  it('RedissonReadWriteLockTest.testReadLockLeaseTimeout: nor is that of an inner level', async () => {
    const { redisson, both } = await openLock()
    await redisson.run(async () => {
      expect(await both.readLock().tryLock(100, 400)).to.equal(true)
      await sleep(200)
      expect(await both.readLock().tryLock(100, 400)).to.equal(true)
      await both.readLock().unlock()
      await sleep(250)
      expect(await both.writeLock().tryLock()).to.equal(true)
      await both.writeLock().unlock()
    })
  })

  it('RedissonReadWriteLockTest.testReadWriteTTL: each side is renewed, reading goes on', async () => {
    const { redisson, both } = await openLock({ lockWatchdogTimeout: 600 })
    const [read, write] = [both.readLock(), both.writeLock()]
    await redisson.run(async () => {
      await write.lock()
      await read.lock()
      for (let i = 0; i < 3; i++) {
        expect(await read.remainTimeToLive()).to.be.greaterThan(250)
        expect(await write.remainTimeToLive()).to.be.greaterThan(250)
        await sleep(350)
      }
      await write.unlock()
      for (let i = 0; i < 3; i++) {
        expect(await read.remainTimeToLive()).to.be.greaterThan(250)
        await sleep(350)
      }
      await read.unlock()
      expect(await read.remainTimeToLive()).to.equal(-2)
    })
  })

  it('RedissonReadWriteLockTest.testExpireRead: a reader does not wait for the lease of another', async () => {
    const { redisson, both } = await openLock()
    await redisson.run(async () => {
      await both.readLock().lock(2_000)
      const reader = () =>
        redisson.run(async () => {
          await both.readLock().lock()
          await both.readLock().unlock()
        })
      expect(await timed(reader)).to.be.below(250)
      await both.readLock().unlock()
    })
  })

  it("RedissonReadWriteLockTest.testExpireWrite: a writer enters at the lease's end", async () => {
    const { redisson, both } = await openLock()
    await redisson.run(async () => {
      await both.writeLock().lock(500)
      const writer = () =>
        redisson.run(async () => {
          await both.writeLock().lock()
          await both.writeLock().unlock()
        })
      expect(await timed(writer)).to.be.within(400, 750)
      expect(await rejection(both.writeLock().unlock())).to.have.property('code', 'LOCK_LOST')
    })
  })

  it("RedissonReadWriteLockTest.testAutoExpire: a dead client's lock becomes free", async () => {
    const { redisson: doomed, name, both } = await openLock({ lockWatchdogTimeout: 500 })
    await doomed.run(() => both.writeLock().lock())
    const write = (await createRedisson()).getReadWriteLock(name).writeLock()
    await doomed.shutdown({ timeout: 0 })
    expect(await write.isLocked()).to.equal(true)
    await waitUntil('it is free', async () => !(await write.isLocked()), 700)
  })

  it('RedissonReadWriteLockTest.testMultiInstanceReadLockZombieCleanup: goes with the last', async () => {
    const options = { lockWatchdogTimeout: 500 }
    const { redisson: dead, name, both } = await openLock(options)
    await dead.run(() => both.readLock().lock())
    await dead.shutdown({ timeout: 0 })
    await afterTheDead(name, 1)
  })

  it('RedissonReadWriteLockTest.testMultiInstanceZombieReadLockPerformance: so do twenty', async () => {
    const name = uniqueName('perf_zombie')
    const zombies = await Promise.all(
      Array.from({ length: 20 }, () => createRedisson({ lockWatchdogTimeout: 500 })),
    )
    for (const zombie of zombies)
      await zombie.run(async () => {
        for (let i = 0; i < 3; i++) await zombie.getReadWriteLock(name).readLock().lock()
      })
    await Promise.all(zombies.map((zombie) => zombie.shutdown({ timeout: 0 })))
    await afterTheDead(name, 20)
  })
})

async function openLock(options: { lockWatchdogTimeout?: number } = {}) {
  const redisson = await createRedisson(options)
  const name = uniqueName('rwlock')
  return { redisson, name, both: redisson.getReadWriteLock(name) }
}

/** A living reader joins the dead ones, outlives their leases, and a writer follows it at once. */
async function afterTheDead(name: string, dead: number): Promise<void> {
  const redis = await openRedis()
  const living = await createRedisson({ lockWatchdogTimeout: 500 })
  const both = living.getReadWriteLock(name)
  await living.run(async () => {
    await both.readLock().lock()
    await sleep(700)
    // Only read timeout keys say who lives: the fields of the dead stay as long as somebody reads.
    expect(await redis.hlen(name)).to.equal(1 + dead + 1)
    expect(await redis.keys(`{${name}}:*`)).to.have.length(1)
    await both.readLock().unlock()
    const took = await timed(async () => expect(await both.writeLock().tryLock(5_000)).to.equal(true))
    expect(took).to.be.below(250)
    await both.writeLock().unlock()
  })
}
