import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  latchChannel,
  lockChannel,
  readWriteLockChannel,
  requestsKey,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import { listeners, noteRefusals, number, value, type WantedOf } from './answers'
import type { Connection } from './connection'
import { type Holder, isCount, type Kind, newHolder, type Row } from './model'

/** A token is short. A longer string is data. */
const LONGEST_TOKEN = 256
const MOST_PERMITS = 500

/** Those of the strings that are token locks, semaphores or latches. */
export async function readStrings(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const known = names.filter((name) => wanted(name).all || wanted(name).kind !== undefined)
  const lengths = await connection.ask(
    node,
    known.map((name) => ['strlen', name]),
  )
  noteRefusals(connection, lengths)
  const short = known.filter((_, at) => (number(lengths[at]) ?? LONGEST_TOKEN + 1) <= LONGEST_TOKEN)
  const read = await connection.ask(
    node,
    short.flatMap((name) => [
      ['get', name],
      ['pttl', name],
    ]),
  )
  noteRefusals(connection, read)
  const rows = await Promise.all(
    short.map(async (name, at): Promise<Row | undefined> => {
      const [text, ttl] = [value(read[2 * at]), number(read[2 * at + 1])]
      if (typeof text !== 'string') return undefined
      const { kind: said } = wanted(name)
      if (said === 'token') return await tokenRow(connection, node, name, text, ttl)
      return isCount(text) ? await numberRow(connection, node, name, Number(text), ttl, said) : undefined
    }),
  )
  return rows.filter((row) => row !== undefined)
}

async function tokenRow(
  connection: Connection,
  node: Redis,
  name: string,
  token: string,
  ttl: number | null,
): Promise<Row> {
  const owner = `sha1:${createHash('sha1').update(token).digest('hex')}`
  const processes = await listeners(connection, node, tokenLockChannel(name))
  const waiting = { processes, callers: null, queue: null }
  return {
    name,
    kind: 'token',
    mode: null,
    ttl,
    holders: [newHolder(owner, null, ttl)],
    waiting,
    value: null,
  }
}

/** A permit of an expirable semaphore ends "never" at this score. */
const NEVER = 922_337_203_685_477

async function numberRow(
  connection: Connection,
  node: Redis,
  name: string,
  count: number | null,
  ttl: number | null,
  said: Kind | undefined,
): Promise<Row> {
  const [permits, opened, time] = await connection.ask(node, [
    ['zcard', suffixed(name, 'timeout')],
    ['exists', `${requestsKey(name)}:opened`],
    ['time'],
  ])
  const [ofSemaphore, ofLatch] = [
    await listeners(connection, node, semaphoreChannel(name)),
    await listeners(connection, node, latchChannel(name)),
  ]
  const out = number(permits) ?? 0
  const kind: Kind =
    out > 0
      ? 'permit-expirable-semaphore'
      : value(opened) === 1
        ? 'latch'
        : said && said !== 'lock'
          ? said
          : ofLatch && !ofSemaphore
            ? 'latch'
            : ofSemaphore && !ofLatch
              ? 'semaphore'
              : 'semaphore-or-latch'
  const [seconds, micros] = (value(time) ?? [0, 0]) as [number, number]
  const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  const holders = out > 0 ? await readPermits(node, name, now) : []
  const processes = kind === 'latch' ? ofLatch : ofSemaphore
  return {
    name,
    kind,
    mode: null,
    ttl,
    holders,
    waiting: { processes, callers: null, queue: null },
    value: count,
  }
}

async function readPermits(node: Redis, name: string, now: number): Promise<Holder[]> {
  const key = suffixed(name, 'timeout')
  const flat = (await node.callBuffer('zrange', key, '0', String(MOST_PERMITS - 1), 'WITHSCORES')) as Buffer[]
  return flat.flatMap((member, at) => {
    if (at % 2 === 1) return []
    const ends = Number(flat[at + 1])
    const id = member.length === 16 ? member.toString('hex') : member.toString()
    return [newHolder(`permit:${id}`, null, ends >= NEVER ? -1 : Math.max(0, ends - now))]
  })
}

/** A free object has no key. It is shown while something says what it is: a process, or a channel. */
export async function readAbsent(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const rows = names.map(async (name): Promise<Row | undefined> => {
    const { kind } = wanted(name)
    if (kind === undefined) return undefined
    if (/semaphore|latch/.test(kind)) return await numberRow(connection, node, name, null, null, kind)
    const channel =
      kind === 'token'
        ? tokenLockChannel(name)
        : kind === 'read-write'
          ? readWriteLockChannel(name)
          : lockChannel(name)
    const processes = await listeners(connection, node, channel)
    const waiting = { processes, callers: null, queue: null }
    return { name, kind, mode: null, ttl: null, holders: [], waiting, value: null }
  })
  return (await Promise.all(rows)).filter((row) => row !== undefined)
}
