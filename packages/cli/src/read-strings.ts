import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  latchChannel,
  lockChannel,
  readWriteLockChannel,
  semaphoreChannel,
  suffixed,
  tokenLockChannel,
} from 'rlock/internal'
import { listeners, noteRefusals, number, value, type WantedOf } from './answers'
import type { Connection } from './connection'
import { type Holder, isCount, type Kind, newHolder, type Row } from './model'
import { MOST_HOLDERS, permitTtl, serverTime } from './owners'

/** A token is short. A longer string is data. */
const LONGEST_TOKEN = 256

/** A string, or an object that has no key now. */
interface Found {
  readonly name: string
  readonly text: string | null
  readonly ttl: number | null
  readonly said: Kind | undefined
}

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
  const found = short.flatMap((name, at): Found[] => {
    const [text, ttl] = [value(read[2 * at]), number(read[2 * at + 1])]
    return typeof text === 'string' ? [{ name, text, ttl, said: wanted(name).kind }] : []
  })
  const isToken = ({ said }: Found) => said === 'token'
  return [
    ...(await readTokens(connection, node, found.filter(isToken))),
    ...(await readNumbers(
      connection,
      node,
      found.filter((each) => !isToken(each) && isCount(each.text)),
    )),
  ]
}

async function readTokens(connection: Connection, node: Redis, found: readonly Found[]): Promise<Row[]> {
  const processes = await listeners(
    connection,
    node,
    found.map(({ name }) => tokenLockChannel(name)),
  )
  return found.map(({ name, text, ttl }, at): Row => {
    const owner = `sha1:${createHash('sha1')
      .update(text ?? '')
      .digest('hex')}`
    return { ...free(name, 'token', processes[at]!), ttl, holders: [newHolder(owner, null, ttl)] }
  })
}

async function readNumbers(connection: Connection, node: Redis, found: readonly Found[]): Promise<Row[]> {
  if (found.length === 0) return []
  const [time, ...read] = await connection.ask(node, [
    ['time'],
    ...found.map(({ name }) => ['zcard', suffixed(name, 'timeout')]),
  ])
  const now = serverTime(value(time))
  const onSemaphore = await listeners(
    connection,
    node,
    found.map(({ name }) => semaphoreChannel(name)),
  )
  const onLatch = await listeners(
    connection,
    node,
    found.map(({ name }) => latchChannel(name)),
  )
  return await Promise.all(
    found.map(async ({ name, text, ttl, said }, at): Promise<Row> => {
      const out = number(read[at]) ?? 0
      const [ofSemaphore, ofLatch] = [onSemaphore[at]!, onLatch[at]!]
      const kind = numberKind(out, said, ofSemaphore, ofLatch)
      const holders = out > 0 ? await readPermits(node, name, now) : []
      return {
        ...free(name, kind, kind === 'latch' ? ofLatch : ofSemaphore),
        ...{ ttl, holders, moreHolders: Math.max(0, out - holders.length) },
        value: text === null ? null : Number(text),
      }
    }),
  )
}

function numberKind(
  permits: number,
  said: Kind | undefined,
  ofSemaphore: number | null,
  ofLatch: number | null,
): Kind {
  if (permits > 0) return 'permit-expirable-semaphore'
  if (said && said !== 'lock') return said
  if (ofLatch && !ofSemaphore) return 'latch'
  return ofSemaphore && !ofLatch ? 'semaphore' : 'semaphore-or-latch'
}

async function readPermits(node: Redis, name: string, now: number): Promise<Holder[]> {
  const key = suffixed(name, 'timeout')
  const flat = (await node.callBuffer('zrange', key, '0', String(MOST_HOLDERS - 1), 'WITHSCORES')) as Buffer[]
  return flat.flatMap((member, at) => {
    if (at % 2 === 1) return []
    const id = member.length === 16 ? member.toString('hex') : member.toString()
    return [newHolder(`permit:${id}`, null, permitTtl(Number(flat[at + 1]), now))]
  })
}

/** A free object has no key. It is shown while the server has a listener on its channel: what a process claims is not enough. */
export async function readAbsent(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const found = names.flatMap((name): (Found & { said: Kind })[] => {
    const { kind } = wanted(name)
    return kind === undefined ? [] : [{ name, text: null, ttl: null, said: kind }]
  })
  const isNumber = ({ said }: Found) => /semaphore|latch/.test(said ?? '')
  const locks = found.filter((each) => !isNumber(each))
  const processes = await listeners(
    connection,
    node,
    locks.map(({ name, said }) => channelOf(name, said)),
  )
  const rows = [
    ...locks.map(({ name, said }, at) => free(name, said, processes[at]!)),
    ...(await readNumbers(connection, node, found.filter(isNumber))),
  ]
  return rows.filter(({ waiting, holders }) => (waiting.processes ?? 0) > 0 || holders.length > 0)
}

function channelOf(name: string, kind: Kind): string {
  if (kind === 'token') return tokenLockChannel(name)
  return kind === 'read-write' ? readWriteLockChannel(name) : lockChannel(name)
}

const free = (name: string, kind: Kind, processes: number | null): Row => ({
  ...{ name, kind, mode: null, ttl: null, holders: [], moreHolders: 0 },
  ...{ waiting: { processes, callers: null, queue: null }, value: null },
})
