import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, type RPermitExpirableSemaphore, TimeUnit } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { stillPending } from '../kit/observing'
import { asleep } from '../kit/sleepers'
import { inCluster } from './in-cluster'

const { MILLISECONDS, SECONDS } = TimeUnit
const NOT_HELD = 'PERMIT_NOT_HELD'
const UNKNOWN = '0123456789abcdef0123456789abcdef'

/** Redisson's own tests of RPermitExpirableSemaphore, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of semaphores whose permits expire", () => {
  async function newSemaphore(permits?: number, redisson?: Redisson) {
    redisson ??= await createRedisson()
    const name = uniqueName('s')
    const s = redisson.getPermitExpirableSemaphore(name)
    if (permits !== undefined) expect(await s.trySetPermits(permits)).to.equal(true)
    return { redisson, name, s }
  }

  const counts = async (s: RPermitExpirableSemaphore) => [
    await s.availablePermits(),
    await s.acquiredPermits(),
    await s.getPermits(),
  ]

  it('RedissonPermitExpirableSemaphoreTest.testGetInClusterNameMapper: mapped in a cluster', async () => {
    const s = (await newSemaphore(2, await inCluster())).s
    const id = await s.acquire()
    await s.release(id)
    const mapped = await createRedisson({ nameMapper: { map: (name) => `test::${name}` } })
    const { s: other, name } = await newSemaphore(1, mapped)
    await other.acquire()
    const redis = await openRedis()
    expect(await redis.exists(`test::${name}`, `{test::${name}}:timeout`)).to.equal(2)
  })

  it('RedissonPermitExpirableSemaphoreTest.testUpdateLeaseTime: the lease is set anew', async () => {
    const { s } = await newSemaphore(1)
    expect(await s.updateLeaseTime(UNKNOWN, 1)).to.equal(false)
    const id = await s.acquire()
    expect(await s.updateLeaseTime(id, 100, MILLISECONDS)).to.equal(true)
    await sleep(150)
    expect(await s.tryRelease(id)).to.equal(false)
    expect(await s.updateLeaseTime(id, 100, MILLISECONDS)).to.equal(false)
    expect(await s.availablePermits()).to.equal(1)
  })

  it('RedissonPermitExpirableSemaphoreTest.testNotExistent: nothing to count', async () => {
    const { s } = await newSemaphore()
    expect(await counts(s)).to.deep.equal([0, 0, 0])
  })

  it('RedissonPermitExpirableSemaphoreTest.testAvailablePermits: what is free', async () => {
    const { s } = await newSemaphore(10)
    expect(await s.availablePermits()).to.equal(10)
    await s.acquire({ permits: 3 })
    expect(await s.availablePermits()).to.equal(7)
  })

  it('RedissonPermitExpirableSemaphoreTest.testAcquiredPermits: what is in use', async () => {
    const { s } = await newSemaphore(4)
    expect(await s.acquiredPermits()).to.equal(0)
    const id = await s.acquire()
    await s.acquire(100, MILLISECONDS)
    expect(await s.acquiredPermits()).to.equal(2)
    await s.release(id)
    await sleep(150)
    expect(await s.acquiredPermits()).to.equal(0)
  })

  it('RedissonPermitExpirableSemaphoreTest.testGetPermits: what there is in all', async () => {
    const { s } = await newSemaphore(4)
    await s.acquire({ permits: 2 })
    expect(await s.getPermits()).to.equal(4)
    await s.addPermits(2)
    expect(await s.getPermits()).to.equal(6)
  })

  it('RedissonPermitExpirableSemaphoreTest.testExpiration: free when the lease has ended', async () => {
    const { s } = await newSemaphore(1)
    await s.acquire(100, MILLISECONDS)
    expect(await s.tryAcquire(2, SECONDS)).to.be.a('string')
  })

  it('RedissonPermitExpirableSemaphoreTest.testExpire: comes back, and is counted once', async () => {
    const { s } = await newSemaphore(1)
    const id = await s.acquire(50, MILLISECONDS)
    await s.acquire(50, MILLISECONDS)
    await sleep(80)
    expect(await rejection(s.release(id))).to.have.property('code', NOT_HELD)
    expect(await counts(s)).to.deep.equal([1, 0, 1])
  })

  it('RedissonPermitExpirableSemaphoreTest.testExpireTryAcquire: the same by tries', async () => {
    const { s } = await newSemaphore(1)
    expect(await s.tryAcquire(0, 100, MILLISECONDS)).to.be.a('string')
    expect(await s.tryAcquire()).to.equal(undefined)
    await sleep(150)
    expect(await s.tryAcquire()).to.be.a('string')
  })

  it('RedissonPermitExpirableSemaphoreTest.testTrySetPermits: permits are set once', async () => {
    const { s } = await newSemaphore(10)
    expect(await s.trySetPermits(15)).to.equal(false)
    expect(await s.availablePermits()).to.equal(10)
  })

  it('RedissonPermitExpirableSemaphoreTest.testSetPermits: the number in all is set', async () => {
    const { s } = await newSemaphore()
    await s.setPermits(10)
    await s.acquire({ permits: 3 })
    await s.setPermits(12)
    expect(await counts(s)).to.deep.equal([9, 3, 12])
    await s.setPermits(2)
    expect(await counts(s)).to.deep.equal([-1, 3, 2])
  })

  it('RedissonPermitExpirableSemaphoreTest.testAddPermits: permits are added', async () => {
    const { s } = await newSemaphore(10)
    await s.addPermits(5)
    await s.acquire({ permits: 5 })
    expect(await counts(s)).to.deep.equal([10, 5, 15])
  })

  it('RedissonPermitExpirableSemaphoreTest.testBlockingAcquire: waits for a release', async () => {
    const { s, redisson, name } = await newSemaphore(1)
    const id = await s.acquire()
    const waiting = s.acquire()
    await asleep(redisson, `permit ${name}`)
    expect(await stillPending(waiting, 50)).to.equal(true)
    await s.release(id)
    expect(await waiting).to.not.equal(id)
  })

  it('RedissonPermitExpirableSemaphoreTest.testBlockingAcquireMany: waits for enough', async () => {
    const { s, redisson, name } = await newSemaphore(5)
    const ids = (await s.acquire({ permits: 4 }))!
    const waiting = s.acquire({ permits: 3 })
    await asleep(redisson, `permit ${name}`)
    await s.release(ids[0]!)
    expect(await stillPending(waiting, 50)).to.equal(true)
    await s.release(ids[1]!)
    expect(await waiting).to.have.length(3)
  })

  it('RedissonPermitExpirableSemaphoreTest.testTryAcquire: a bounded wait, in vain and not', async () => {
    const { s } = await newSemaphore(1)
    const id = (await s.tryAcquire())!
    expect(await s.tryAcquire(50, MILLISECONDS)).to.equal(undefined)
    const waiting = s.tryAcquire(5, SECONDS)
    await s.release(id)
    expect(await waiting).to.be.a('string')
  })

  it('RedissonPermitExpirableSemaphoreTest.testTryAcquireMany: all or none', async () => {
    const { s } = await newSemaphore(5)
    expect(await s.tryAcquire({ permits: 6 })).to.equal(undefined)
    expect(await s.tryAcquire({ permits: 5 })).to.have.length(5)
    expect(await s.tryAcquire({ permits: 1, waitTime: 30 })).to.equal(undefined)
  })

  it('RedissonPermitExpirableSemaphoreTest.testReleaseWithoutPermits: an unknown id', async () => {
    const { s } = await newSemaphore()
    expect(await rejection(s.release(UNKNOWN))).to.have.property('code', NOT_HELD)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonPermitExpirableSemaphoreTest.testReleaseExpired: releasing too late rejects', async () => {
    const { s } = await newSemaphore(1)
    const id = await s.acquire(50, MILLISECONDS)
    await sleep(80)
    expect(await rejection(s.release(id))).to.have.property('code', NOT_HELD)
  })

  async function concurrently(clients: number, callers: number, rounds: number, permits: number, each = 1) {
    const { name, s } = await newSemaphore(permits)
    const semaphores: RPermitExpirableSemaphore[] = [s]
    while (semaphores.length < clients)
      semaphores.push((await createRedisson()).getPermitExpirableSemaphore(name))
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        const semaphore = semaphores[caller % clients]!
        for (let round = 0; round < rounds; round++) {
          const ids = (await semaphore.acquire({ permits: each }))!
          inside += each
          most = Math.max(most, inside)
          await Promise.resolve()
          inside -= each
          await semaphore.release(ids)
        }
      }),
    )
    expect(most).to.be.at.most(permits)
    expect(await counts(s)).to.deep.equal([permits, 0, permits])
  }

  it('RedissonPermitExpirableSemaphoreTest.testConcurrency_SingleInstance: 200 callers', () =>
    concurrently(1, 200, 1, 1))
  it('RedissonPermitExpirableSemaphoreTest.testConcurrencyLoop_MultiInstance: four clients', () =>
    concurrently(4, 16, 15, 1))
  it('RedissonPermitExpirableSemaphoreTest.testConcurrencyMultiPermits: several permits a caller', () =>
    concurrently(2, 20, 3, 10, 3))
  it('RedissonPermitExpirableSemaphoreTest.testConcurrencyMultiPermits2: all permits a caller', () =>
    concurrently(2, 20, 3, 5, 5))

  it('RedissonPermitExpirableSemaphoreTest.testAcquire: ids differ', async () => {
    const { s } = await newSemaphore(2)
    expect(await s.acquire()).to.not.equal(await s.acquire())
  })

  it('RedissonPermitExpirableSemaphoreTest.testRelease: what is released is free', async () => {
    const { s } = await newSemaphore(1)
    await s.release(await s.acquire())
    expect(await counts(s)).to.deep.equal([1, 0, 1])
  })

  it('RedissonPermitExpirableSemaphoreTest.testAcquireAsyncMany: many at once', async () => {
    const { s } = await newSemaphore(10)
    expect(new Set(await s.acquire({ permits: 10 })).size).to.equal(10)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonPermitExpirableSemaphoreTest.testReleaseAsyncMany: many released at once', async () => {
    const { s } = await newSemaphore(10)
    await s.release((await s.acquire({ permits: 10 }))!)
    expect(await counts(s)).to.deep.equal([10, 0, 10])
  })

  it('RedissonPermitExpirableSemaphoreTest.testReleaseManyExpiredDoesNotThrow: names them', async () => {
    const { s } = await newSemaphore(10)
    const expired = (await s.acquire({ permits: 2, leaseTime: 50 }))!
    const kept = (await s.acquire({ permits: 2 }))!
    await sleep(80)
    expect(await rejection(s.release([...expired, ...kept]))).to.deep.include({
      code: NOT_HELD,
      permitIds: expired,
    })
    expect(await counts(s)).to.deep.equal([10, 0, 10])
  })

  it('RedissonPermitExpirableSemaphoreTest.testTryReleaseManyExpired: all or none', async () => {
    const { s } = await newSemaphore(10)
    const expired = (await s.acquire({ permits: 2, leaseTime: 50 }))!
    const kept = (await s.acquire({ permits: 2 }))!
    await sleep(80)
    expect(await s.tryRelease([...expired, ...kept])).to.equal(0)
    expect(await counts(s)).to.deep.equal([8, 2, 10])
  })

  it('RedissonPermitExpirableSemaphoreTest.testReleaseManyNotExistOrExpired: names them', async () => {
    const { s } = await newSemaphore(10)
    expect(await rejection(s.release([UNKNOWN]))).to.deep.include({ code: NOT_HELD, permitIds: [UNKNOWN] })
    expect(await s.tryRelease([UNKNOWN])).to.equal(0)
  })

  it('RedissonPermitExpirableSemaphoreTest.testGetLeaseTime: what is left of a lease', async () => {
    const { s } = await newSemaphore(2)
    expect(await s.getLeaseTime(await s.acquire())).to.equal(-1)
    expect(await s.getLeaseTime(await s.acquire(60, SECONDS))).to.be.within(50_000, 60_000)
    expect(await rejection(s.getLeaseTime(UNKNOWN))).to.have.property('code', NOT_HELD)
  })
})
