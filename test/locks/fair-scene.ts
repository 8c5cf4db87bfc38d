import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../src/client/client-internals'
import { ReentrantLock } from '../../src/engine/reentrant-lock'
import type { LockHold, Redisson, RLock } from '../../src/index'
import { FairLockKind } from '../../src/locks/fair-lock'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ForeignFairLock } from '../kit/foreign-fair-lock'
import { internalsOf } from '../kit/internals'
import { type Standalone, waitUntil } from '../kit/servers/index'
import { own } from '../kit/servers/own-server'
import { startServer } from '../kit/stand-in'

/** One fair lock on a server that no other test uses; new for each test. */
export class FairScene {
  server!: Standalone
  redis!: Redis
  name!: string
  /** What a Java peer would do. */
  java!: ForeignFairLock

  async begin(): Promise<void> {
    this.redis = await openRedis(this.server.url)
    this.name = uniqueName()
    this.java = new ForeignFairLock(this.redis, this.name)
  }

  /** The channel of the locks of that name that are not fair. */
  get channel(): string {
    return lockChannel(this.name)
  }

  open(internals: ClientInternals = {}, url = this.server.url): Promise<Redisson> {
    return createRedisson({ redis: url }, internals)
  }

  /** The lock, with another allowance than the usual one. */
  lockOf(redisson: Redisson, allowance?: number): RLock {
    if (allowance === undefined) return redisson.getFairLock(this.name)
    const client = internalsOf(redisson)
    const kind = new FairLockKind(this.name, this.name, client)
    return new ReentrantLock(client, Object.assign(kind, { allowance }))
  }

  /** Callers of these locks, one after the other; each writes down its number when it is inside. */
  async queueUp(locks: readonly RLock[], entered: number[]): Promise<Promise<unknown>[]> {
    const queued: Promise<unknown>[] = []
    for (const [number, lock] of locks.entries()) {
      const before = await this.length()
      queued.push(
        lock.acquire().then(async (hold) => {
          entered.push(number)
          await hold.unlock()
        }),
      )
      await waitUntil('it is in the queue', async () => (await this.length()) > before, 5_000, 2)
    }
    return queued
  }

  /** The same for one caller; its acquisition, once it is subscribed to its channel and has looked once more. */
  async waiting(lock: RLock, signal?: AbortSignal): Promise<{ acquired: Promise<LockHold>; owner: string }> {
    const before = await this.length()
    const acquired = lock.acquire(signal ? { signal } : undefined)
    acquired.catch(() => {})
    await waitUntil('it is in the queue', async () => (await this.length()) > before, 5_000, 2)
    const owner = (await this.java.places()).at(-1)!
    await waitUntil('it listens', async () => (await this.listeners(owner)) > 0, 5_000, 2)
    await new Promise((resolve) => setTimeout(resolve, 30))
    return { acquired, owner }
  }

  async listeners(owner: string): Promise<number> {
    const [, count] = (await this.redis.pubsub('NUMSUB', this.java.channelOf(owner))) as [string, number]
    return Number(count)
  }

  length(): Promise<number> {
    return this.redis.llen(this.java.queue)
  }

  async nothingIsLeft(): Promise<void> {
    await waitUntil(
      'nothing is left',
      async () => (await this.redis.keys(`*${this.name}*`)).length === 0,
      5_000,
      5,
    )
  }

  /** How many scripts the server has run. */
  async scripts(): Promise<number> {
    const stats = await this.redis.info('commandstats')
    const [, calls = '0'] = /cmdstat_evalsha:calls=(\d+)/.exec(stats) ?? []
    return Number(calls)
  }
}

/** For a `describe`. */
export function fairScene(): FairScene {
  const scene = new FairScene()
  scene.server = own(startServer)()
  beforeEach(() => scene.begin())
  return scene
}
