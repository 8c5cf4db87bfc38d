import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, type RLock, type RRedLock, TimeUnit } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { openUntilTheEnd } from '../kit/closing'
import { stillPending } from '../kit/observing'
import { freshServer, type Standalone, startStandalone } from '../kit/servers/index'
import { heldByAnotherThread, heldOnThreeServers } from './multi-lock-checks'

/**
 * Redisson's own tests of its RedLock as 3.16.8 has them (4.7 has none), asked of ours: one here for each there,
 * by its name. They put more than one member on a server, which ours takes and warns of.
 */
describe("Redisson's tests of RedLocks", () => {
  let servers: Standalone[]
  let clients: Redisson[]

  before(async () => {
    servers = await Promise.all(Array.from({ length: 3 }, () => freshServer()))
    // For all tests: each client warns once.
    clients = await Promise.all(servers.map(({ url }) => createRedisson({ redis: url })))
  })
  openUntilTheEnd()

  /** Names of locks, on two servers: so many on the first, the others on the second. */
  function locksOn(first: number, second: number): RLock[] {
    const prefix = uniqueName('lock')
    return [...Array(first).fill(0), ...Array(second).fill(1)].map((server: number, n) =>
      clients[server]!.getLock(`${prefix}:${n}`),
    )
  }

  const redLock = (locks: readonly RLock[]): RRedLock => clients[0]!.getRedLock(...locks)
  const inThread = <T>(work: () => Promise<T>) => clients[0]!.run(work)

  /** Ten threads with five sections each; a section reads a number and writes it back one higher. */
  async function countedSections(acquire: () => Promise<unknown>, release: () => Promise<void>) {
    let counter = 0
    const thread = () =>
      inThread(async () => {
        for (let section = 0; section < 5; section++) {
          await acquire()
          const next = counter + 1
          await sleep(5)
          counter = next
          await release()
        }
      })
    await Promise.all(Array.from({ length: 10 }, thread))
    expect(counter).to.equal(50)
  }

  async function lockWithLease(leaseTime: number, unit: TimeUnit) {
    const lock = redLock(locksOn(2, 5))
    await countedSections(
      () => lock.lock(leaseTime, unit),
      () => lock.unlock(),
    )
  }

  it('RedissonRedLockTest.testLockLeasetimeWithMilliSeconds: one inside, lease in ms', () =>
    lockWithLease(2_000, TimeUnit.MILLISECONDS))

  it('RedissonRedLockTest.testLockLeasetimeWithSeconds: one inside, lease in seconds', () =>
    lockWithLease(2, TimeUnit.SECONDS))

  it('RedissonRedLockTest.testLockLeasetimeWithMinutes: one inside, lease in minutes', () =>
    lockWithLease(1, TimeUnit.MINUTES))

  it('RedissonRedLockTest.testTryLockLeasetime: nor with a wait and a lease', async () => {
    const lock = redLock(locksOn(2, 1))
    const acquire = async () => {
      while (!(await lock.tryLock(4, 2, TimeUnit.SECONDS)));
    }
    await countedSections(acquire, () => lock.unlock())
  })

  it('RedissonRedLockTest.testLockFailed: two of three members held: a try is false', async () => {
    const [lock1, lock2, lock3] = locksOn(2, 1) as [RLock, RLock, RLock]
    await inThread(async () => {
      await lock2.lock()
      await lock3.lock()
    })
    const leaving = new AbortController()
    const waiting = inThread(() => redLock([lock1, lock2, lock3]).lock({ signal: leaving.signal }))
    expect(await stillPending(waiting, 300)).to.equal(true)
    expect(await inThread(() => redLock([lock1, lock2, lock3]).tryLock())).to.equal(false)
    leaving.abort()
    await waiting.catch(() => {})
  })

  it('RedissonRedLockTest.testLockSuccess2: one of three members held: a try is true', async () => {
    const locks = locksOn(2, 1)
    await inThread(() => locks[1]!.lock())
    await inThread(async () => {
      const lock = redLock(locks)
      expect(await lock.tryLock(500, 5_000)).to.equal(true)
      await sleep(300)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
    })
    expect(await Promise.all(locks.map((lock) => lock.isLocked()))).to.deep.equal([false, true, false])
  })

  it('RedissonRedLockTest.testLockSuccess: a quorum without the held member, whichever it is', async () => {
    const locks = locksOn(2, 1)
    for (const held of locks) {
      await inThread(() => held.lock())
      await oneAfterTheOther(locks, () => held.forceUnlock())
    }
  })

  it('RedissonRedLockTest.testConnectionFailed: a quorum without the server that is down', async () => {
    const down = await startStandalone()
    const locks = [...locksOn(2, 0), (await createRedisson({ redis: down.url })).getLock('lock3')]
    await down.stop()
    await oneAfterTheOther(locks, async () => {})
  })

  // These two are switched off there, and are about the multi lock.
  it('RedissonRedLockTest.testMultiThreads: one thread after the other enters', () =>
    heldByAnotherThread(clients[0]!))

  it('RedissonRedLockTest.test: a multi lock on three servers keeps another out', () =>
    heldOnThreeServers(servers))

  /** A thread holds the RedLock; then `meanwhile` happens; another thread waits, and enters after the first one. */
  async function oneAfterTheOther(locks: readonly RLock[], meanwhile: () => Promise<unknown>) {
    const steps: string[] = []
    let other: Promise<void> | undefined
    await inThread(async () => {
      const lock = redLock(locks)
      await lock.lock()
      await meanwhile()
      other = inThread(async () => {
        const second = redLock(locks)
        await second.lock()
        steps.push('entered')
        await second.unlock()
      })
      expect(await stillPending(other, 200)).to.equal(true)
      steps.push('released')
      await lock.unlock()
    })
    await other
    expect(steps).to.deep.equal(['released', 'entered'])
  }
})
