import {
  latchChannel,
  lockChannel,
  prefixed,
  readTimeoutParts,
  readWriteLockChannel,
  requestsKey,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import { listeners, value } from './answers'
import type { Connection } from './connection'
import { escapeGlob, slices } from './find'
import type { Row } from './model'

export interface KeyDetails {
  readonly key: string
  readonly role: string
  /** In ms; -1: no expiry. */
  readonly ttl: number
  readonly content: unknown
}

const MOST = 200
const MOST_LEVELS = 8

/** Every key that belongs to the object, with what is in it. */
export async function keysOf(connection: Connection, row: Row): Promise<KeyDetails[]> {
  const { name } = row
  const node = connection.primaryOf(name)
  const [before, behind] = readTimeoutParts(name)
  const timeouts = row.holders.flatMap(({ owner, count }) =>
    row.mode === null || owner.endsWith(':write')
      ? []
      : [...Array(Math.min(count ?? 1, MOST_LEVELS)).keys()].map(
          (level) => `${before}${owner}${behind}${level + 1}`,
        ),
  )
  const candidates: [string, string, (string | number)[]][] = [
    [
      'object',
      name,
      row.holders.some(({ clientId }) => clientId !== null)
        ? ['hscan', name, '0', 'count', MOST]
        : ['type', name],
    ],
    ...timeouts.map((key): [string, string, string[]] => ['read timeout', key, ['type', key]]),
    [
      'fair queue',
      prefixed('redisson_lock_queue', name),
      ['lrange', prefixed('redisson_lock_queue', name), 0, MOST - 1],
    ],
    [
      'fair deadlines',
      prefixed('redisson_lock_timeout', name),
      ['zrange', prefixed('redisson_lock_timeout', name), 0, MOST - 1, 'WITHSCORES'],
    ],
    ['fencing token', prefixed('redisson_lock_token', name), ['get', prefixed('redisson_lock_token', name)]],
    ['permits in use', suffixed(name, 'timeout'), ['zcard', suffixed(name, 'timeout')]],
  ]
  const requests = /semaphore|latch/.test(row.kind) ? await requestKeys(connection, name) : []
  candidates.push(
    ...requests.map((key): [string, string, string[]] => ['requests of a client', key, ['type', key]]),
  )
  const answers = await connection.ask(
    node,
    candidates.flatMap(([, key, command]) => [['pttl', key], command]),
  )
  return candidates.flatMap(([role, key], at) => {
    const ttl = Number(value(answers[2 * at]) ?? -2)
    if (ttl === -2) return []
    const read = value(answers[2 * at + 1])
    const content = role === 'object' && Array.isArray(read) ? pairs(read[1]) : read
    return [{ key, role, ttl, content: role === 'fair deadlines' ? pairs(content) : (content ?? null) }]
  })
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
  const details: ChannelDetails[] = []
  for (const channel of channelNames(row, Array.isArray(places) ? places.map(String) : []))
    details.push({ channel, listeners: await listeners(connection, node, channel) })
  return details
}

function channelNames({ name, kind }: Row, places: readonly string[]): string[] {
  if (kind === 'read-write') return [readWriteLockChannel(name)]
  if (kind === 'token') return [tokenLockChannel(name)]
  if (kind === 'latch') return [latchChannel(name)]
  if (kind === 'semaphore-or-latch') return [semaphoreChannel(name), latchChannel(name)]
  if (/semaphore/.test(kind)) return [semaphoreChannel(name)]
  // Each place of a fair lock has a channel of its own.
  return [lockChannel(name), ...places.map((owner) => `${lockChannel(name)}:${owner}`)]
}

function pairs(flat: unknown): Record<string, string> {
  const list = Array.isArray(flat) ? flat.map(String) : []
  return Object.fromEntries(list.flatMap((field, at) => (at % 2 === 0 ? [[field, list[at + 1] ?? '']] : [])))
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
