import type { Redis } from 'ioredis'
import { lockChannel, prefixed, readTimeoutParts, readWriteLockChannel } from 'rlock/internal'
import { listeners, noteRefusals, number, value, type WantedOf } from './answers'
import type { Connection } from './connection'
import { isCount, type Kind, newHolder, parseOwner, type Row } from './model'

/** More fields than this are not read: a foreign hash may have millions, and a read lock has one for each holder. */
const MOST_HOLDERS = 500
/** Of a read hold, the timeout keys of this many levels are read. */
const MOST_LEVELS = 4

/** Those of the hashes that are locks. */
export async function readHashes(
  connection: Connection,
  node: Redis,
  names: readonly string[],
  wanted: WantedOf,
): Promise<Row[]> {
  const shapes = await connection.ask(
    node,
    names.flatMap((name) => [
      ['hlen', name],
      ['hget', name, 'mode'],
    ]),
  )
  noteRefusals(connection, shapes)
  const candidates = names.filter((_, at) => {
    const mode = value(shapes[2 * at + 1])
    return number(shapes[2 * at]) === 1 || mode === 'read' || mode === 'write'
  })
  const fields = await connection.ask(
    node,
    candidates.map((name) => ['hscan', name, '0', 'count', MOST_HOLDERS]),
  )
  noteRefusals(connection, fields)
  const locks = candidates.flatMap((name, at) => {
    const [, flat] = (value(fields[at]) ?? ['0', []]) as [string, string[]]
    const entries = flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!] as const] : []))
    const mode = entries.find(([field]) => field === 'mode')?.[1]
    const owners = entries.filter(([field]) => field !== 'mode')
    const isLock = owners.length > 0 && owners.every(([field, count]) => parseOwner(field) && isCount(count))
    return isLock ? [{ name, mode: modeOf(mode), owners }] : []
  })
  return await Promise.all(
    locks.map(async ({ name, mode, owners }): Promise<Row> => {
      const [before, behind] = readTimeoutParts(name)
      const levels = mode
        ? owners.flatMap(([owner, count]) =>
            owner.endsWith(':write')
              ? []
              : [...Array(Math.min(Number(count), MOST_LEVELS)).keys()].map((level) => ({
                  owner,
                  key: `${before}${owner}${behind}${level + 1}`,
                })),
          )
        : []
      const [ttl, token, queue, ...timeouts] = await connection.ask(node, [
        ['pttl', name],
        ['exists', prefixed('redisson_lock_token', name)],
        ['llen', prefixed('redisson_lock_queue', name)],
        ...levels.map(({ key }) => ['pttl', key]),
      ])
      const keyTtl = number(ttl)
      const queued = number(queue)
      const kind = mode
        ? 'read-write'
        : queued
          ? 'fair'
          : value(token) === 1
            ? 'fenced'
            : lockKind(wanted(name).kind)
      const holders = owners.map(([owner, count]) => {
        const own = levels.flatMap((level, at) => (level.owner === owner ? [number(timeouts[at]) ?? -2] : []))
        return newHolder(owner, Number(count), own.length > 0 ? Math.max(...own) : keyTtl)
      })
      return {
        name,
        kind,
        mode,
        ttl: keyTtl,
        holders,
        waiting: {
          processes: await listeners(connection, node, mode ? readWriteLockChannel(name) : lockChannel(name)),
          callers: null,
          queue: kind === 'fair' ? queued : null,
        },
        value: null,
      }
    }),
  )
}

const modeOf = (mode: string | undefined): Row['mode'] => (mode === 'read' || mode === 'write' ? mode : null)
const lockKind = (said: Kind | undefined): Kind => (said === 'fair' || said === 'fenced' ? said : 'lock')
