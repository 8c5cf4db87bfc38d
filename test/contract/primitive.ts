import type { Redis } from 'ioredis'
import type { Redisson, RLock } from '../../src/index'

/** What a contract must know of a primitive that has owners and leases. Everything else it does through RLock. */
export interface Primitive {
  /** As a title names one: `lock`, `read lock`. */
  readonly name: string
  /** Several owners may hold it at a time. */
  readonly shared: boolean
  /** Its holder is refused when it asks again: tests of levels do not hold for it. */
  readonly nonReentrant?: true
  /** A re-entry adds its lease to what is left, as Java does; else the longer of the two counts. */
  readonly addsLeases: boolean
  /** The scripts behind its operations. */
  readonly scripts: Readonly<Record<'acquire' | 'release' | 'renew', string>> & { readonly reenter?: string }
  create(redisson: Redisson, name: string): RLock
  /** Another client, which keeps every owner of this primitive out. */
  blocker(redis: Redis, name: string): Blocker
  /** The channel on which its release is published. */
  channel(name: string): string
  /** How many waiters' channels are listened to, where each waiter has one of its own. */
  readonly waitersListening?: (redis: Redis, name: string) => Promise<number>
  /** The hash field of an owner. */
  ownerField(clientId: string, threadId: number): string
  /** The hold counts by owner field. */
  holds(redis: Redis, name: string): Promise<Record<string, number>>
  /** The time to live of every key that the primitive needs to stay held. */
  timesToLive(redis: Redis, name: string): Promise<number[]>
  /** Fails where a key of it is left. */
  expectNothingLeft(redis: Redis, name: string): Promise<void>
}

/** Bare commands, so that a test decides which of them happen. */
export interface Blocker {
  /** Without a lease the key has no expiry. */
  take(lease?: number): Promise<unknown>
  /** Deletes the key and publishes. */
  release(): Promise<unknown>
  /** Deletes the key and does not publish, as an expiry does. */
  vanish(): Promise<unknown>
}

/** How many connections listen to a channel. */
export async function listeners(redis: Redis, channel: string): Promise<number> {
  const [, count] = (await redis.pubsub('NUMSUB', channel)) as [string, number]
  return Number(count)
}

export async function counts(primitive: Primitive, redis: Redis, name: string): Promise<number[]> {
  return Object.values(await primitive.holds(redis, name)).sort()
}
