import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { RSemaphore } from '../../src/index'
import { createRedisson, openRedis, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'
import { stillPending } from '../kit/observing'
import { asleep } from '../kit/sleepers'

/** Redisson's own tests of RSemaphore, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of semaphores", () => {
  let s: RSemaphore

  clientAndRedis('s')
  beforeEach(() => {
    s = redisson.getSemaphore(name)
  })

  it('RedissonSemaphoreTest.testAcquireAfterAddPermits: enters once enough were added', async () => {
    await s.trySetPermits(0)
    const waiting = s.acquire(2)
    await asleep(redisson, `semaphore ${name}`)
    await s.addPermits(1)
    expect(await stillPending(waiting, 50)).to.equal(true)
    await s.addPermits(1)
    await waiting
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testZero: none are taken and released at once', async () => {
    expect(await s.tryAcquire(0, 10 * 60, undefined)).to.equal(true)
    await s.release(0)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testAcquireWithoutSetPermits: released permits make one', async () => {
    await s.release()
    await s.release()
    await s.acquire(2)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testTrySetPermits: set once, and gone with a time to live', async () => {
    expect(await s.trySetPermits(10)).to.equal(true)
    expect(await s.availablePermits()).to.equal(10)
    expect(await s.trySetPermits(15)).to.equal(false)
    expect(await s.availablePermits()).to.equal(10)
    await (await openRedis()).del(name)
    expect(await s.trySetPermits(10, 100)).to.equal(true)
    await sleep(150)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testAddPermits: permits are added to what there is', async () => {
    await s.trySetPermits(10)
    await s.addPermits(5)
    expect(await s.availablePermits()).to.equal(15)
    await s.acquire(5)
    expect(await s.availablePermits()).to.equal(10)
  })

  it('RedissonSemaphoreTest.testReducePermits: permits may fall below zero, and come back', async () => {
    await s.trySetPermits(10)
    await s.acquire(10)
    await s.addPermits(-5)
    expect(await s.availablePermits()).to.equal(-5)
    await s.release(10)
    expect(await s.availablePermits()).to.equal(5)
    await s.acquire(5)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testBlockingAcquire: a caller waits until one is released', async () => {
    await s.trySetPermits(1)
    await s.acquire()
    const waiting = redisson.getSemaphore(name).acquire()
    expect(await stillPending(waiting, 50)).to.equal(true)
    await s.release()
    await waiting
    expect(await s.tryAcquire()).to.equal(false)
    await s.release()
    expect(await s.availablePermits()).to.equal(1)
  })

  it('RedissonSemaphoreTest.testBlockingNAcquire: waits until enough are there', async () => {
    await s.trySetPermits(5)
    await s.acquire(3)
    const waiting = redisson.getSemaphore(name).acquire(4)
    await asleep(redisson, `semaphore ${name}`)
    await s.release()
    expect(await stillPending(waiting, 50)).to.equal(true)
    await s.release()
    await waiting
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testTryNAcquire: granted once enough were released', async () => {
    await s.trySetPermits(5)
    await s.acquire(3)
    expect(await s.tryAcquire(5)).to.equal(false)
    const waiting = redisson.getSemaphore(name).tryAcquire(4, 5_000)
    for (let each = 0; each < 2; each++) {
      await sleep(20)
      await s.release()
    }
    expect(await waiting).to.equal(true)
  })

  it('RedissonSemaphoreTest.testReleaseWithoutPermits: one released is one more', async () => {
    await s.release()
    expect(await s.availablePermits()).to.equal(1)
  })

  it('RedissonSemaphoreTest.testDrainPermits: all that are free are taken at once', async () => {
    expect(await s.drainPermits()).to.equal(0)
    await s.trySetPermits(10)
    await s.acquire(3)
    expect(await s.drainPermits()).to.equal(7)
    expect(await s.availablePermits()).to.equal(0)
  })

  it('RedissonSemaphoreTest.testReleaseAcquire: what is released can be taken', async () => {
    await s.trySetPermits(10)
    await s.acquire()
    expect(await s.availablePermits()).to.equal(9)
    await s.release()
    expect(await s.availablePermits()).to.equal(10)
    await s.acquire(5)
    await s.release(5)
    expect(await s.availablePermits()).to.equal(10)
  })

  it('RedissonSemaphoreTest.testReleaseIfExists: nothing is released where there is no semaphore', async () => {
    expect(await s.releaseIfExists(1)).to.equal(false)
    expect(await s.availablePermits()).to.equal(0)
    await s.trySetPermits(1)
    expect(await s.releaseIfExists(2)).to.equal(true)
    expect(await s.availablePermits()).to.equal(3)
  })

  /** So many callers of so many clients, each so often inside; answers the most that were there at once. */
  async function concurrently(
    clients: number,
    callers: number,
    rounds: number,
    permits: number,
  ): Promise<number> {
    const name = uniqueName('s')
    const semaphores: RSemaphore[] = []
    for (let each = 0; each < clients; each++) semaphores.push((await createRedisson()).getSemaphore(name))
    await semaphores[0]!.trySetPermits(permits)
    let inside = 0
    let most = 0
    let entered = 0
    const took = await timed(() =>
      Promise.all(
        Array.from({ length: callers }, async (_, caller) => {
          const semaphore = semaphores[caller % clients]!
          for (let round = 0; round < rounds; round++) {
            await semaphore.acquire()
            entered++
            most = Math.max(most, ++inside)
            await Promise.resolve()
            inside--
            await semaphore.release()
          }
        }),
      ),
    )
    expect(took).to.be.below(20_000)
    expect(entered).to.equal(callers * rounds)
    expect(await semaphores[0]!.availablePermits()).to.equal(permits)
    return most
  }

  it('RedissonSemaphoreTest.testConcurrency_SingleInstance: 200 callers, one permit', async () => {
    expect(await concurrently(1, 200, 1, 1)).to.equal(1)
  })

  it('RedissonSemaphoreTest.testConcurrencyLoopMax_MultiInstance: as many permits as callers', async () => {
    expect(await concurrently(4, 16, 10, 16)).to.be.at.most(16)
  })

  it('RedissonSemaphoreTest.testConcurrencyLoop_MultiInstance: callers of four clients', async () => {
    expect(await concurrently(4, 16, 15, 1)).to.equal(1)
  })

  it('RedissonSemaphoreTest.testConcurrency_MultiInstance_1_permits: eight clients, one permit', async () => {
    expect(await concurrently(8, 32, 2, 1)).to.equal(1)
  })
})
