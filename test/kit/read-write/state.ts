import { expect } from 'chai'
import type { Redis } from 'ioredis'

/** A read-write lock as it stands in Redis. */
export interface Standing {
  readonly mode: string | undefined
  /** The hold counts by field, without `mode`. */
  readonly fields: Record<string, number>
  /** The hash's remaining time to live in ms; -2 without key. */
  readonly ttl: number
  /** The remaining time to live of each read timeout key, under `<owner field>#<level>`. */
  readonly readTimeouts: Record<string, number>
  /** Other keys with the lock's name in theirs: there must never be any. */
  readonly strangers: readonly string[]
}

// One script, so that nothing changes between two looks. KEYS is fine for a test server of few keys.
const SNAPSHOT = `
  local answer = { redis.call('pttl', KEYS[1]), redis.call('hgetall', KEYS[1]), {} }
  for _, key in ipairs(redis.call('keys', '*' .. ARGV[1] .. '*')) do
    if key ~= KEYS[1] then
      table.insert(answer[3], key)
      table.insert(answer[3], redis.call('pttl', key))
    end
  end
  return answer`

export async function look(redis: Redis, name: string): Promise<Standing> {
  const answer = (await redis.eval(SNAPSHOT, 1, name, name)) as [number, string[], (string | number)[]]
  const [ttl, hash, keys] = answer
  const fields: Record<string, number> = {}
  let mode: string | undefined
  for (let i = 0; i < hash.length; i += 2)
    if (hash[i] === 'mode') mode = hash[i + 1]
    else fields[hash[i]!] = Number(hash[i + 1])
  const readTimeouts: Record<string, number> = {}
  const strangers: string[] = []
  for (let i = 0; i < keys.length; i += 2) {
    const key = String(keys[i])
    const [, owner, level] = /^\{.*?\}:(.*):rwlock_timeout:(\d+)$/.exec(key) ?? []
    if (owner && key.startsWith(`{${name}}:`)) readTimeouts[`${owner}#${level}`] = Number(keys[i + 1])
    else strangers.push(key)
  }
  return { mode, fields, ttl, readTimeouts, strangers }
}

/** Mode and counts without owners, in order of the counts: what a table row says. */
export async function shape(redis: Redis, name: string) {
  const { mode, fields, readTimeouts, strangers } = await look(redis, name)
  expect(strangers).to.deep.equal([])
  const readers = Object.entries(fields).filter(([field]) => !field.endsWith(':write'))
  const writers = Object.entries(fields).filter(([field]) => field.endsWith(':write'))
  return {
    mode,
    readers: readers.map(([, count]) => count).sort(),
    writers: writers.map(([, count]) => count).sort(),
    readTimeouts: Object.keys(readTimeouts).length,
  }
}

/** Neither the lock nor a read timeout key of it is left. */
export async function expectNothingLeft(redis: Redis, name: string): Promise<void> {
  expect(await look(redis, name)).to.deep.equal({
    mode: undefined,
    fields: {},
    ttl: -2,
    readTimeouts: {},
    strangers: [],
  })
}

/** The messages on the lock's channel, from now on. */
export async function messagesOf(redis: Redis, name: string): Promise<string[]> {
  const messages: string[] = []
  redis.on('message', (_channel, message) => messages.push(message))
  await redis.subscribe(`redisson_rwlock:{${name}}`)
  return messages
}

/** How many connections listen to the lock's channel. */
export async function listeners(redis: Redis, name: string): Promise<number> {
  const [, count] = (await redis.pubsub('NUMSUB', `redisson_rwlock:{${name}}`)) as [string, number]
  return Number(count)
}

export function readTimeoutKey(name: string, owner: string, level: number): string {
  return `{${name}}:${owner}:rwlock_timeout:${level}`
}

/** What another process has of a lock: its fields and read timeout keys, placed by hand as Java would. */
export class ForeignSide {
  static readonly client = '11111111-2222-3333-4444-555555555555'

  constructor(
    private readonly redis: Redis,
    readonly name: string,
  ) {}

  /** Reads as thread `id`, with a level for each lease. */
  async read(id: number, ...leases: number[]): Promise<string> {
    const field = `${ForeignSide.client}:${id}`
    const longest = Math.max(...leases, await this.redis.pttl(this.name))
    const multi = this.redis.multi().hset(this.name, 'mode', 'read', field, leases.length)
    leases.forEach((lease, i) => {
      multi.set(readTimeoutKey(this.name, field, i + 1), '1', 'PX', lease)
    })
    await multi.pexpire(this.name, longest).exec()
    return field
  }

  /** Writes; without a lease the key has no expiry. */
  async write(id: number, lease?: number): Promise<string> {
    const field = `${ForeignSide.client}:${id}:write`
    await this.redis.hset(this.name, 'mode', 'write', field, 1)
    if (lease !== undefined) await this.redis.pexpire(this.name, lease)
    return field
  }

  /** Frees the lock as the last release does, or by message only. */
  async free(message: '0' | '1'): Promise<void> {
    await this.redis.multi().del(this.name).publish(`redisson_rwlock:{${this.name}}`, message).exec()
  }

  /** Frees it and notifies no waiter, as an expiry does. */
  async vanish(): Promise<void> {
    await this.redis.del(this.name)
  }
}
