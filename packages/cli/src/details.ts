import {
  latchChannel,
  lockChannel,
  prefixed,
  rateLimiterChannel,
  readTimeoutParts,
  readWriteLockChannel,
  requestsKey,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import { listeners, value } from './answers'
import type { Connection } from './connection'
import { slices } from './find'
import { escapeGlob } from './glob'
import type { Row } from './model'

export interface KeyDetails {
  readonly key: string
  readonly role: string
  /** In ms; -1: no expiry. */
  readonly ttl: number
  readonly content: unknown
  /** How many more entries there are than `content` has. */
  readonly more: number
}

const MOST = 200
const MOST_LEVELS = 8

type Command = readonly (string | number)[]

/** A key that may be there. `count` says how many entries it has, where they may be too many. */
interface Candidate {
  readonly role: string
  readonly key: string
  readonly read: Command
  readonly count?: Command
}

/** Every key that belongs to the object, with what is in it. */
export async function keysOf(connection: Connection, row: Row): Promise<KeyDetails[]> {
  const { name } = row
  const node = connection.primaryOf(name)
  const requests = /semaphore|latch/.test(row.kind) ? await requestKeys(connection, name) : []
  const [queue, deadlines] = [prefixed('redisson_lock_queue', name), prefixed('redisson_lock_timeout', name)]
  const [token, permits] = [prefixed('redisson_lock_token', name), suffixed(name, 'timeout')]
  const [leader, slots] = [prefixed('rlock_leader', name), prefixed('rlock_slots', name)]
  const isHash = row.holders.some(({ clientId }) => clientId !== null)
  const candidates: Candidate[] = [
    isHash
      ? {
          ...{ role: 'object', key: name, count: ['hlen', name] },
          read: ['hscan', name, '0', 'count', MOST],
        }
      : { role: 'object', key: name, read: ['type', name] },
    ...timeoutsOf(row).map((key) => ({ role: 'read timeout', key, read: ['type', key] })),
    { role: 'fair queue', key: queue, read: ['lrange', queue, 0, MOST - 1], count: ['llen', queue] },
    {
      ...{ role: 'fair deadlines', key: deadlines, count: ['zcard', deadlines] },
      read: ['zrange', deadlines, 0, MOST - 1, 'WITHSCORES'],
    },
    { role: 'fencing token', key: token, read: ['get', token] },
    { role: 'leader', key: leader, read: ['hget', leader, 'label'] },
    { role: 'slots', key: slots, read: ['zcard', slots] },
    { role: 'permits in use', key: permits, read: ['zcard', permits] },
    ...requests.map((key) => ({ role: 'requests of a client', key, read: ['type', key] })),
  ]
  const answers = await connection.ask(
    node,
    candidates.flatMap(({ key, read, count }) => [['pttl', key], read, count ?? ['exists', key]]),
  )
  return candidates.flatMap(({ role, key, count }, at): KeyDetails[] => {
    const ttl = Number(value(answers[3 * at]) ?? -2)
    if (ttl === -2) return []
    const content = contentOf(role, value(answers[3 * at + 1]))
    const size = count === undefined ? 0 : Number(value(answers[3 * at + 2]) ?? 0)
    return [{ key, role, ttl, content, more: Math.max(0, size - Object.keys(Object(content)).length) }]
  })
}

function contentOf(role: string, read: unknown): unknown {
  if (role === 'object' && Array.isArray(read)) return pairs(read[1])
  return role === 'fair deadlines' ? pairs(read) : (read ?? null)
}

/** Of the first holders, the timeout keys of their first levels. */
function timeoutsOf({ name, mode, holders }: Row): string[] {
  if (mode === null) return []
  const [before, behind] = readTimeoutParts(name)
  return holders
    .slice(0, MOST)
    .flatMap(({ owner, count }) =>
      owner.endsWith(':write')
        ? []
        : Array.from(
            { length: Math.max(0, Math.min(count ?? 1, MOST_LEVELS)) },
            (_, level) => `${before}${owner}${behind}${level + 1}`,
          ),
    )
}

export interface ChannelDetails {
  readonly channel: string
  /** How many clients listen; null where the server does not say. */
  readonly listeners: number | null
}

/** The channels on which the waiters of this object are notified. */
export async function channelsOf(
  connection: Connection,
  row: Row,
  keys: readonly KeyDetails[],
): Promise<ChannelDetails[]> {
  const node = connection.primaryOf(row.name)
  const places = keys.find(({ role }) => role === 'fair queue')?.content
  const channels = channelNames(row, Array.isArray(places) ? places.map(String) : [])
  const counts = await listeners(connection, node, channels)
  return channels.map((channel, at) => ({ channel, listeners: counts[at]! }))
}

function channelNames({ name, kind }: Row, places: readonly string[]): string[] {
  if (kind === 'read-write') return [readWriteLockChannel(name)]
  if (kind === 'token') return [tokenLockChannel(name)]
  if (kind === 'latch') return [latchChannel(name)]
  if (kind === 'semaphore-or-latch') return [semaphoreChannel(name), latchChannel(name)]
  if (/semaphore/.test(kind)) return [semaphoreChannel(name)]
  if (kind === 'rate-limiter') return [rateLimiterChannel(name)]
  if (kind === 'slots') return [prefixed('channel', prefixed('rlock_slots', name))]
  // Each place of a fair lock has a channel of its own.
  return [lockChannel(name), ...places.map((owner) => `${lockChannel(name)}:${owner}`)]
}

function pairs(flat: unknown): Record<string, string> {
  const list = Array.isArray(flat) ? flat.map(String) : []
  const entries = list.flatMap((field, at) => (at % 2 === 0 ? [[field, list[at + 1] ?? ''] as const] : []))
  return Object.fromEntries(entries.slice(0, MOST))
}

/** The records of requests of clients: they are found by a scan of their primary, in slices. */
async function requestKeys(connection: Connection, name: string): Promise<string[]> {
  const escaped = escapeGlob(requestsKey(name))
  const keys: string[] = []
  for await (const found of slices(connection, connection.primaryOf(name), undefined, `${escaped}:*`)) {
    keys.push(...found)
    if (keys.length >= MOST) break
  }
  return keys
}
