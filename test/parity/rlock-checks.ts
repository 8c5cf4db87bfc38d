import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, type RLock, TimeUnit } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { startStandalone, waitUntil } from '../kit/servers/index'

/** Gets a lock of the kind that is asked about. */
export type LockOf = (redisson: Redisson, name: string) => RLock

/**
 * What Redisson's tests ask alike of its fair lock and its spin lock (and of RLock, see redisson-lock.test.ts). Java's
 * threads are `redisson.run` scopes. Times are shorter where they only have to be longer than something.
 */
export class RLockChecks {
  constructor(private readonly lockOf: LockOf) {}

  async redisFailed(): Promise<void> {
    const server = await startStandalone()
    const redisson = await createRedisson({ redis: server.url })
    const lock = this.lockOf(redisson, 'myLock')
    await server.stop()
    expect(await rejection(lock.tryLock(500, 10_000))).to.have.property('code', 'REDIS_UNAVAILABLE')
  }

  async tryLockWait(): Promise<void> {
    const [holder, redisson] = [await createRedisson(), await createRedisson()]
    const name = uniqueName()
    const hold = await this.lockOf(holder, name).acquire()
    let acquired: boolean | undefined
    const took = await timed(async () => {
      acquired = await this.lockOf(redisson, name).tryLock(1, TimeUnit.SECONDS)
    })
    expect(acquired).to.equal(false)
    expect(took).to.be.within(990, 1_500)
    await hold.unlock()
  }

  async lockUninterruptibly(): Promise<void> {
    const redisson = await createRedisson()
    const lock = this.lockOf(redisson, uniqueName())
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
  }

  async forceUnlock(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, name)
      await lock.lock()
      await lock.forceUnlock()
      expect(await lock.isLocked()).to.equal(false)
      expect(await this.lockOf(redisson, name).isLocked()).to.equal(false)
    })
  }

  async expire(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, name)
      await lock.lock(500)
      const waiter = redisson.run(async () => {
        const took = await timed(() => this.lockOf(redisson, name).lock())
        await this.lockOf(redisson, name).unlock()
        return took
      })
      expect(await waiter).to.be.within(400, 800)
      expect(await rejection(lock.unlock())).to.have.property('code', 'LOCK_LOST')
    })
  }

  async autoExpire(): Promise<void> {
    const doomed = await createRedisson({ lockWatchdogTimeout: 600 })
    const redisson = await createRedisson()
    const name = uniqueName()
    await doomed.run(() => this.lockOf(doomed, name).lock())
    await sleep(900)
    const lock = this.lockOf(redisson, name)
    expect(await lock.isLocked()).to.equal(true)
    await doomed.shutdown({ timeout: 0 })
    await waitUntil('it is free', async () => !(await lock.isLocked()), 1_000)
  }

  async getHoldCount(): Promise<void> {
    const redisson = await createRedisson()
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, uniqueName())
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
    })
  }

  async isHeldByCurrentThreadOtherThread(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    const elsewhere = () => redisson.run(() => this.lockOf(redisson, name).isHeldByCurrentThread())
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, name)
      await lock.lock()
      expect(await elsewhere()).to.equal(false)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  }

  async isHeldByCurrentThread(): Promise<void> {
    const redisson = await createRedisson()
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, uniqueName())
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      await lock.lock()
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
    })
  }

  async isLockedOtherThread(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    const elsewhere = () => redisson.run(() => this.lockOf(redisson, name).isLocked())
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, name)
      await lock.lock()
      expect(await elsewhere()).to.equal(true)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  }

  /** Once more in a cluster, where Java's test of that name asks the same. */
  async isLocked(redisson?: Redisson): Promise<void> {
    const client = redisson ?? (await createRedisson())
    await client.run(async () => {
      const lock = this.lockOf(client, uniqueName())
      expect(await lock.isLocked()).to.equal(false)
      await lock.lock()
      expect(await lock.isLocked()).to.equal(true)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  }

  async unlockFail(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    await redisson.run(async () => {
      await this.lockOf(redisson, name).lock()
      const error = await rejection(redisson.run(() => this.lockOf(redisson, name).unlock()))
      expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await this.lockOf(redisson, name).isHeldByCurrentThread()).to.equal(true)
      await this.lockOf(redisson, name).unlock()
    })
  }

  async lockUnlock(): Promise<void> {
    const lock = this.lockOf(await createRedisson(), uniqueName())
    for (let round = 0; round < 2; round++) {
      await lock.lock()
      await lock.unlock()
    }
    expect(await lock.isLocked()).to.equal(false)
  }

  async reentrancy(): Promise<void> {
    const redisson = await createRedisson()
    const name = uniqueName()
    await redisson.run(async () => {
      const lock = this.lockOf(redisson, name)
      expect(await lock.tryLock()).to.equal(true)
      expect(await lock.tryLock()).to.equal(true)
      await lock.unlock()
      expect(await redisson.run(() => this.lockOf(redisson, name).tryLock())).to.equal(false)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  }

  async singleInstance(): Promise<void> {
    const [redisson, name] = [await createRedisson(), uniqueName()]
    const section = new CountedSection(this.lockOf, name)
    await Promise.all(Array.from({ length: 15 }, () => section.enter(redisson)))
    expect(section.entered).to.equal(15)
  }

  async loopMultiInstance(): Promise<void> {
    const [clients, rounds] = [16, 10]
    const section = new CountedSection(this.lockOf, uniqueName(), 3)
    await withClients(clients, async (redisson) => {
      for (let round = 0; round < rounds; round++) await section.enter(redisson)
    })
    expect(section.entered).to.equal(clients * rounds)
  }

  async multiInstance(): Promise<void> {
    const section = new CountedSection(this.lockOf, uniqueName())
    await withClients(100, (redisson) => section.enter(redisson))
    expect(section.entered).to.equal(100)
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

async function withClients(count: number, use: (redisson: Redisson) => Promise<void>): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => createRedisson()))
  await Promise.all(clients.map(use))
}
