import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { uniqueName } from '../../test/kit/clients'
import { REDISSON_VERSIONS } from '../../test/kit/java'
import { preparedOnce } from '../../test/kit/prepared'
import { type LockThread, type ObjectChoice, READ, type Side, WRITE } from '../support/lock-peer'
import type { World } from '../support/world'

const BOTH = ['Java', 'Node'] as const
const other = (side: Side): Side => (side === 'Java' ? 'Node' : 'Java')

/** What one thread of a side does before all wait for longer than a lease. */
class Hold {
  readonly name = uniqueName()
  readonly thread: LockThread

  constructor(
    private readonly world: World,
    readonly side: Side,
  ) {
    this.thread = world[side].thread(uniqueName('thread'))
  }

  /** A thread of the other side. */
  get looking(): LockThread {
    return this.world[other(this.side)].thread(`looks at ${this.name}`)
  }

  exists(): Promise<number> {
    return this.world.redis.exists(this.name)
  }

  async readTimeouts(): Promise<number[]> {
    const keys = await this.world.redis.keys(`{${this.name}}:*:rwlock_timeout:*`)
    return await Promise.all(keys.map((key) => this.world.redis.pttl(key)))
  }
}

/** The watchdogs of both sides at once, each looked at by the other. */
export function renewalTests(world: World, watchdogMs: number): void {
  const isOldest = world.version === REDISSON_VERSIONS.oldest
  const holds = {} as Record<
    | 'locked'
    | 'lockForced'
    | 'readsTwice'
    | 'doesBoth'
    | 'wroteFirst'
    | 'readLast'
    | 'readForced'
    | 'writeForced',
    Hold[]
  >

  // One wait for all: each test looks at what became of its own.
  preparedOnce(async () => {
    const each = async (prepare: (hold: Hold) => Promise<unknown>) => {
      const both = BOTH.map((side) => new Hold(world, side))
      await Promise.all(both.map(prepare))
      return both
    }
    const takeBoth = async ({ thread, name }: Hold) => {
      await thread.lock(name, WRITE)
      await thread.lock(name, READ)
    }
    holds.locked = await each(({ thread, name }) => thread.lock(name))
    holds.readsTwice = await each(async ({ thread, name }) => {
      await thread.lock(name, READ)
      await thread.lock(name, READ)
    })
    holds.doesBoth = await each(takeBoth)
    holds.wroteFirst = await each(async (hold) => {
      await takeBoth(hold)
      await hold.thread.unlock(hold.name, WRITE)
    })
    holds.readLast = await each(async (hold) => {
      await takeBoth(hold)
      await hold.thread.unlock(hold.name, READ)
    })
    const forced = (of: ObjectChoice) =>
      each(async ({ thread, name, looking }) => {
        await thread.lock(name, of)
        expect(await looking.forceUnlock(name, of)).to.equal(true)
      })
    holds.lockForced = await forced({})
    holds.readForced = await forced(READ)
    holds.writeForced = await forced(WRITE)
    await sleep(watchdogMs + 600)
  })

  /** Without a renewal the key would be gone by now; a busy machine may renew late. */
  const expectRenewed = (ttl: number) => expect(ttl).to.be.within(1, watchdogMs)

  it('renews a plain lock', async () => {
    for (const { looking, thread, name } of holds.locked) {
      expectRenewed(await looking.remainTimeToLive(name))
      await thread.unlock(name)
    }
  })

  it('renews readers with the read timeout key of each level', async () => {
    for (const hold of holds.readsTwice) {
      const { looking, thread, name } = hold
      expectRenewed(await looking.remainTimeToLive(name, READ))
      const readTimeouts = await hold.readTimeouts()
      expect(readTimeouts).to.have.length(2)
      readTimeouts.forEach(expectRenewed)
      expect(await looking.tryLock(name, WRITE)).to.equal(false)
      await thread.unlock(name, READ)
      await thread.unlock(name, READ)
      expect(await hold.exists()).to.equal(0)
    }
  })

  it('renews writers that read as well', async () => {
    for (const hold of holds.doesBoth) {
      const { side, looking, thread, name } = hold
      expectRenewed(await looking.remainTimeToLive(name, WRITE))
      // The oldest renews the key alone: once it steps down, any reader's release throws it out.
      const readTimeouts = await hold.readTimeouts()
      expect(readTimeouts).to.have.length(side === 'Java' && isOldest ? 0 : 1)
      readTimeouts.forEach(expectRenewed)
      expect(await looking.tryLock(name, WRITE)).to.equal(false)
      expect(await looking.tryLock(name, READ)).to.equal(false)
      await thread.unlock(name, READ)
      await thread.unlock(name, WRITE)
      expect(await hold.exists()).to.equal(0)
    }
  })

  it('goes on for a writer that stepped down to reading, but in Java 3.16.8', async () => {
    for (const hold of holds.wroteFirst) {
      const expected = hold.side === 'Java' && isOldest ? 0 : 1
      expect(await hold.exists(), hold.side).to.equal(expected)
      if (expected) await hold.thread.unlock(hold.name, READ)
    }
  })

  // Since 3.44 a read unlock of a Java thread ends the renewal of its write hold, too.
  it('goes on for a writer that has stopped reading, but in newer Javas', async () => {
    for (const hold of holds.readLast) {
      const expected = hold.side === 'Java' && !isOldest ? 0 : 1
      expect(await hold.exists(), hold.side).to.equal(expected)
      if (expected) await hold.thread.unlock(hold.name, WRITE)
    }
  })

  it('ends when the other side forces the lock free', async () => {
    for (const hold of [...holds.lockForced, ...holds.readForced, ...holds.writeForced])
      expect(await hold.exists()).to.equal(0)
  })
}
