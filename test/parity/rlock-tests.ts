import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, type RLock, TimeUnit } from '../../src/index'
import { createRedisson, rejection, timed } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'
import { startStandalone, waitUntil } from '../kit/servers/index'

/** Gets a lock of the kind that is asked about. */
export type LockOf = (redisson: Redisson, name: string) => RLock

// Java's threads are `redisson.run` scopes. Times are shorter where they only have to be longer than something.

/** What Redisson's tests ask alike of RLock, its fair lock and its spin lock. */
export function rlockTests(suite: string, lockOf: LockOf): void {
  clientAndRedis()

  it(`${suite}.testTryLockWait: the wait is as long as it was said`, async () => {
    const hold = await lockOf(await createRedisson(), name).acquire()
    let acquired: boolean | undefined
    const took = await timed(async () => {
      acquired = await lockOf(redisson, name).tryLock(1, TimeUnit.SECONDS)
    })
    expect(acquired).to.equal(false)
    expect(took).to.be.within(990, 1_500)
    await hold.unlock()
  })

  it(`${suite}.testForceUnlock: the lock is free, through any object`, async () => {
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      await lock.lock()
      await lock.forceUnlock()
      expect(await lock.isLocked()).to.equal(false)
      expect(await lockOf(redisson, name).isLocked()).to.equal(false)
    })
  })

  it(`${suite}.testExpire: a waiter enters at the lease's end, unlock() fails`, async () => {
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      await lock.lock(500)
      const waiter = redisson.run(async () => {
        const took = await timed(() => lockOf(redisson, name).lock())
        await lockOf(redisson, name).unlock()
        return took
      })
      expect(await waiter).to.be.within(400, 800)
      expect(await rejection(lock.unlock())).to.have.property('code', 'LOCK_LOST')
    })
  })

  it(`${suite}.testAutoExpire: a dead client's lock is free by the watchdog time`, async () => {
    const doomed = await createRedisson({ lockWatchdogTimeout: 600 })
    await doomed.run(() => lockOf(doomed, name).lock())
    await sleep(900)
    const lock = lockOf(redisson, name)
    expect(await lock.isLocked()).to.equal(true)
    await doomed.shutdown({ timeout: 0 })
    await waitUntil('it is free', async () => !(await lock.isLocked()), 1_000)
  })

  it(`${suite}.testGetHoldCount: counts up with each lock() and down with each unlock()`, async () => {
    await redisson.run(() => countsUpAndDown(lockOf(redisson, name)))
  })

  it(`${suite}.testIsHeldByCurrentThreadOtherThread: one holds, another not`, async () => {
    const elsewhere = () => redisson.run(() => lockOf(redisson, name).isHeldByCurrentThread())
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      await lock.lock()
      expect(await elsewhere()).to.equal(false)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  })

  it(`${suite}.testIsHeldByCurrentThread: only between lock() and unlock()`, async () => {
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      await lock.lock()
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
    })
  })

  it(`${suite}.testIsLockedOtherThread: locked is locked for every thread`, async () => {
    const elsewhere = () => redisson.run(() => lockOf(redisson, name).isLocked())
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      await lock.lock()
      expect(await elsewhere()).to.equal(true)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  })

  it(`${suite}.testIsLocked: only between lock() and unlock()`, async () => {
    await isLockedWhileHeld(redisson, lockOf(redisson, name))
  })

  it(`${suite}.testUnlockFail: another thread's lock cannot be unlocked, and stays`, async () => {
    await redisson.run(async () => {
      await lockOf(redisson, name).lock()
      const error = await rejection(redisson.run(() => lockOf(redisson, name).unlock()))
      expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await lockOf(redisson, name).isHeldByCurrentThread()).to.equal(true)
      await lockOf(redisson, name).unlock()
    })
  })

  it(`${suite}.testLockUnlock: a lock can be taken again and again`, async () => {
    const lock = lockOf(redisson, name)
    for (let round = 0; round < 2; round++) {
      await lock.lock()
      await lock.unlock()
    }
    expect(await lock.isLocked()).to.equal(false)
  })

  it(`${suite}.testReentrancy: one level released of two still keeps others out`, async () => {
    await redisson.run(async () => {
      const lock = lockOf(redisson, name)
      expect(await lock.tryLock()).to.equal(true)
      expect(await lock.tryLock()).to.equal(true)
      await lock.unlock()
      expect(await redisson.run(() => lockOf(redisson, name).tryLock())).to.equal(false)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it(`${suite}.testConcurrency_SingleInstance: fifteen threads enter once each`, async () => {
    const section = new CountedSection(lockOf, name)
    await Promise.all(Array.from({ length: 15 }, () => section.enter(redisson)))
    expect(section.entered).to.equal(15)
  })

  it(`${suite}.testConcurrencyLoop_MultiInstance: sixteen clients in a loop`, async () => {
    const [clients, rounds] = [16, 10]
    const section = new CountedSection(lockOf, name, 3)
    await withClients(clients, async (redisson) => {
      for (let round = 0; round < rounds; round++) await section.enter(redisson)
    })
    expect(section.entered).to.equal(clients * rounds)
  })

  it(`${suite}.testConcurrency_MultiInstance: a hundred clients each enter once`, async () => {
    const section = new CountedSection(lockOf, name)
    await withClients(100, (redisson) => section.enter(redisson))
    expect(section.entered).to.equal(100)
  })
}

/** What they ask of RLock and of the spin lock alone. */
export function rlockFailureTests(suite: string, lockOf: LockOf): void {
  it(`${suite}.testRedisFailed: a dead server is an error, not a hang and not a false`, async () => {
    const server = await startStandalone()
    const lock = lockOf(await createRedisson({ redis: server.url }), 'myLock')
    await server.stop()
    expect(await rejection(lock.tryLock(500, 10_000))).to.have.property('code', 'REDIS_UNAVAILABLE')
  })

  it(`${suite}.testLockUninterruptibly: waits on while others are aborted`, async () => {
    const lock = lockOf(redisson, name)
    const hold = await lock.acquire({ leaseTime: 600_000 })
    const controller = new AbortController()
    let entered = false
    const waiting = redisson.run(async () => {
      await lock.lock(10, TimeUnit.MINUTES)
      entered = true
      await lock.unlock()
    })
    const interrupted = rejection(lock.lock({ signal: controller.signal }))
    await sleep(50)
    controller.abort(new Error('interrupted'))
    expect((await interrupted).message).to.equal('interrupted')
    await sleep(200)
    expect(entered).to.equal(false)
    await hold.unlock()
    await waiting
    expect(entered).to.equal(true)
  })
}

/** What they ask alike of the two kinds that their holder cannot take again. */
export function nonReentrantTests(suite: string, lockOf: LockOf): void {
  it(`${suite}.testContendingThreadBlocksAndAcquiresOnRelease: waits`, async () => {
    const lock = lockOf(redisson, name)
    let entered = false
    let waiting: Promise<void> | undefined
    await redisson.run(async () => {
      await lock.lock()
      waiting = redisson.run(async () => {
        await lock.lock()
        entered = true
        await lock.unlock()
      })
      await sleep(200)
      expect(entered).to.equal(false)
      await lock.unlock()
    })
    await waiting
    expect(entered).to.equal(true)
    expect(await lock.isLocked()).to.equal(false)
  })

  it(`${suite}.testSameThreadReacquireThrows: the holder is refused`, async () => {
    const lock = lockOf(redisson, name)
    await redisson.run(async () => {
      await lock.lock()
      for (const again of [() => lock.lock(), () => lock.tryLock(), () => lock.tryLock(100)])
        expect(await rejection(again())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it(`${suite}.testCrossInstanceSameThreadReentryThrows: any object`, async () => {
    const [a, b] = [lockOf(redisson, name), lockOf(redisson, name)]
    expect(a).to.not.equal(b)
    await redisson.run(async () => {
      await a.lock()
      for (const again of [() => b.lock(), () => b.tryLock()])
        expect(await rejection(again())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await b.isHeldByCurrentThread()).to.equal(true)
      await a.unlock()
      expect([await a.isLocked(), await b.isLocked()]).to.deep.equal([false, false])
    })
  })
}

export async function isLockedWhileHeld(redisson: Redisson, lock: RLock): Promise<void> {
  await redisson.run(async () => {
    expect(await lock.isLocked()).to.equal(false)
    await lock.lock()
    expect(await lock.isLocked()).to.equal(true)
    await lock.unlock()
    expect(await lock.isLocked()).to.equal(false)
  })
}

/** For a thread that holds nothing of the lock. */
export async function countsUpAndDown(lock: RLock): Promise<void> {
  expect(await lock.getHoldCount()).to.equal(0)
  for (const [call, count] of [
    ['lock', 1],
    ['unlock', 0],
    ['lock', 1],
    ['lock', 2],
    ['unlock', 1],
    ['unlock', 0],
  ] as const) {
    await lock[call]()
    expect(await lock.getHoldCount()).to.equal(count)
  }
}

/** A section under the lock, which a thread of its own enters each time, and no two at a time. */
class CountedSection {
  entered = 0
  private inside = 0

  constructor(
    private readonly lockOf: LockOf,
    private readonly name: string,
    private readonly lasts = 0,
  ) {}

  async enter(redisson: Redisson): Promise<void> {
    await redisson.run(async () => {
      await this.lockOf(redisson, this.name).lock()
      try {
        expect(++this.inside).to.equal(1)
        await sleep(this.lasts)
        this.inside--
        this.entered++
      } finally {
        await this.lockOf(redisson, this.name).unlock()
      }
    })
  }
}

export async function withClients(count: number, use: (redisson: Redisson) => Promise<void>): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => createRedisson()))
  await Promise.all(clients.map(use))
}
