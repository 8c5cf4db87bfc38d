import { Redis } from 'ioredis'
import type { Sides } from './lock-peer'

export interface KeyDump {
  readonly key: string
  readonly type: string
  readonly value: unknown
  /** Seconds, in steps of five. -1: no expiry. */
  readonly ttl: number
}

/**
 * Redisson 3.24.1 and later keep a key for a moment that says "this unlock was done", and delete it after
 * the answer. It is theirs alone; ours gets the same effect without.
 */
const UNLOCK_LATCH = /^redisson_unlock_latch:/

/** The read timeout key of a level of a read hold. */
const READ_TIMEOUT_KEY = /<owner>:rwlock_timeout:\d+$/

/** Everything in the database but Java's unlock latches, as it looks from either writer: owners have no ids. */
export async function dumpKeyspace(redis: Redis, sides: Sides): Promise<KeyDump[]> {
  const keys = (await redis.keys('*')).filter((key) => !UNLOCK_LATCH.test(key))
  const dump = await Promise.all(
    keys.map(async (key) => {
      const [type, ttl] = await Promise.all([redis.type(key), redis.pttl(key)])
      const value = await contentOf(redis, key, type)
      return { key, type, value, ttl: ttl < 0 ? ttl : inSteps(ttl) }
    }),
  )
  return inOrder(withoutIds(dump, sides)).map((each) =>
    Array.isArray(each.value) ? { ...each, value: inOrder(each.value) } : each,
  )
}

async function contentOf(redis: Redis, key: string, type: string): Promise<unknown> {
  if (type === 'hash') return Object.entries(await redis.hgetall(key))
  if (type === 'list') return (await redis.lrange(key, 0, -1)).map((owner) => [owner])
  if (type !== 'zset') return await redis.dump(key)
  // The deadlines of a fair lock: in seconds from now.
  const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES')
  return flat.flatMap((owner, i) => (i % 2 === 0 ? [[owner, inSteps(Number(flat[i + 1]) - Date.now())]] : []))
}

/** Seconds, in steps of five: on a busy machine a key is read a second after it was written. */
export function inSteps(ms: number): number {
  return Math.round(ms / 5_000) * 5
}

export function isReadTimeoutKey({ key }: KeyDump): boolean {
  return READ_TIMEOUT_KEY.test(key)
}

/**
 * Ids of the two clients and of their threads give way; any other text stays, and would differ. All owners
 * become one: a read hold beside a write hold has a thread id of its own with ours, the same one in Java.
 */
export function withoutIds<T>(value: T, { Java, Node }: Sides): T {
  const ids = new RegExp(`(${Java.clientId}|${Node.clientId}):[1-9]\\d*`, 'g')
  return JSON.parse(JSON.stringify(value).replace(ids, '<owner>')) as T
}

/** By their text: what ids decided the order of must not be distinguished by it. */
function inOrder<T>(items: readonly T[]): T[] {
  const text = (item: T) => JSON.stringify(item)
  return [...items].sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** Everything that is published while it listens, on any channel but those on which inspectors and processes of rlock talk. */
export class PublishedMessages {
  private readonly seen: [channel: string, message: string][] = []
  private arrived: (() => void) | undefined
  private marks = 0

  private constructor(
    private readonly listener: Redis,
    private readonly publisher: Redis,
  ) {
    listener.on('pmessage', (_, channel: string, message: string) => {
      if (channel === MARK) this.arrived?.()
      else if (!channel.startsWith('rlock:inspect')) this.seen.push([channel, message])
    })
  }

  static async listen(url: string): Promise<PublishedMessages> {
    const listener = new Redis(url)
    await listener.psubscribe('*')
    return new PublishedMessages(listener, new Redis(url))
  }

  /** What came since the last call. The server delivers in order, so a message of our own marks the end. */
  async take(): Promise<[channel: string, message: string][]> {
    await new Promise<void>((resolve) => {
      this.arrived = resolve
      void this.publisher.publish(MARK, String(++this.marks))
    })
    return this.seen.splice(0)
  }

  close(): void {
    this.listener.disconnect()
    this.publisher.disconnect()
  }
}

const MARK = 'test:mark'
