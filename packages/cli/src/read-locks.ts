import type { Redis } from 'ioredis'
import { lockChannel, prefixed, readTimeoutParts, readWriteLockChannel } from 'rlock/internal'
import { listeners, noteRefusals, number, value, type WantedOf } from './answers'
import type { Connection } from './connection'
import { type Kind, newHolder, type Row } from './model'
import { readOwners } from './owners'
import { readLimiters } from './read-limiters'
import { readAbsent, readStrings } from './read-strings'

/** Of a read hold, the timeout keys of this many levels are read. */
const MOST_LEVELS = 4

interface Lock {
  readonly name: string
  readonly mode: Row['mode']
  readonly owners: readonly (readonly [owner: string, count: string])[]
  readonly moreHolders: number
}

/** Those of the hashes that are locks. */
export async function readHashes(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const locks = await locksAmong(connection, node, names)
  const channels = locks.map(({ name, mode }) => (mode ? readWriteLockChannel(name) : lockChannel(name)))
  const processes = await listeners(connection, node, channels)
  return await Promise.all(
    locks.map(async (lock, at): Promise<Row> => {
      const { name, mode, owners, moreHolders } = lock
      const timeouts = timeoutsOf(lock)
      const [ttl, token, queue, leader, ...read] = await connection.ask(node, [
        ['pttl', name],
        ['exists', prefixed('redisson_lock_token', name)],
        ['llen', prefixed('redisson_lock_queue', name)],
        ['hmget', prefixed('rlock_leader', name), 'owner', 'term', 'label'],
        ...timeouts.flatMap((keys) => keys.map((key) => ['pttl', key])),
      ])
      const keyTtl = number(ttl)
      const queued = number(queue)
      const [noted, term, label = null] = (value(leader) ?? []) as (string | null)[]
      const counted = term ? 'election' : 'fenced'
      const kind = mode
        ? 'read-write'
        : queued
          ? 'fair'
          : value(token) === 1
            ? counted
            : lockKind(wanted(name).kind)
      let next = 0
      const holders = owners.map(([owner, count], index) => {
        const own = timeouts[index]!.map(() => number(read[next++]) ?? -2)
        const holder = newHolder(owner, Number(count), own.length > 0 ? Math.max(...own) : keyTtl)
        return owner === noted ? { ...holder, label } : holder
      })
      // Of a leader in Java nothing is noted.
      const isNoted = kind === 'election' && owners[0]?.[0] === noted
      const waiting = { processes: processes[at]!, callers: null, queue: kind === 'fair' ? queued : null }
      return {
        name,
        kind,
        mode,
        ttl: keyTtl,
        holders,
        moreHolders,
        waiting,
        value: isNoted ? Number(term) : null,
      }
    }),
  )
}

async function locksAmong(connection: Connection, node: Redis, names: readonly string[]): Promise<Lock[]> {
  const shapes = await connection.ask(
    node,
    names.flatMap((name) => [
      ['hlen', name],
      ['hget', name, 'mode'],
    ]),
  )
  noteRefusals(connection, shapes)
  const candidates = names.flatMap((name, at) => {
    const length = number(shapes[2 * at])
    const mode = modeOf(value(shapes[2 * at + 1]))
    return length === 1 || mode !== null ? [{ name, mode, length: length ?? 0 }] : []
  })
  const all = await readOwners(
    connection,
    node,
    candidates.map(({ name }) => name),
  )
  return candidates.flatMap(({ name, mode, length }, at) => {
    const { counts, hasMode } = all[at] ?? { counts: new Map<string, string>(), hasMode: false }
    // It became a read-write lock meanwhile: what was read is of two locks.
    if (counts.size === 0 || (mode === null && (hasMode || counts.size > 1))) return []
    const owners = [...counts]
    return [{ name, mode, owners, moreHolders: mode === null ? 0 : Math.max(0, length - 1 - owners.length) }]
  })
}

/** The timeout keys of each owner: only read holds have any. */
function timeoutsOf({ name, mode, owners }: Lock): string[][] {
  const [before, behind] = readTimeoutParts(name)
  return owners.map(([owner, count]) =>
    mode === null || owner.endsWith(':write')
      ? []
      : Array.from(
          { length: Math.max(0, Math.min(Number(count), MOST_LEVELS)) },
          (_, level) => `${before}${owner}${behind}${level + 1}`,
        ),
  )
}

const modeOf = (mode: unknown): Row['mode'] => (mode === 'read' || mode === 'write' ? mode : null)
const lockKind = (said: Kind | undefined): Kind => (said === 'fair' || said === 'fenced' ? said : 'lock')

/** Reads those of the keys of one primary that are locks or synchronizers. Keys that end meanwhile are left out. */
export async function readObjects(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const types = await connection.ask(
    node,
    names.map((name) => ['type', name]),
  )
  const ofType = (...kinds: string[]) => names.filter((_, at) => kinds.includes(String(value(types[at]))))
  noteRefusals(connection, types)
  const rows = await Promise.all([
    readHashes(connection, node, ofType('hash'), wanted),
    readLimiters(connection, node, ofType('hash')),
    readStrings(connection, node, ofType('string'), wanted),
    readAbsent(connection, node, ofType('none'), wanted),
  ])
  return rows.flat()
}
