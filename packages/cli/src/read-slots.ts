import type { Redis } from 'ioredis'
import { prefixed } from 'rlock/internal'
import { listeners, number, value } from './answers'
import type { Connection } from './connection'
import { newHolder, type Row } from './model'
import { namesIn } from './names'
import { MOST_HOLDERS, serverTime } from './owners'

const PREFIX = 'rlock_slots'

/** The name of the slots that have this key; undefined for another key. */
export function slotsNameOf(key: string): string | undefined {
  if (!key.startsWith(`${PREFIX}:`)) return undefined
  // `{x}` and `x` have the same key.
  return namesIn(key.slice(PREFIX.length + 1)).find((name) => name !== '')
}

export const slotsKey = (name: string) => prefixed(PREFIX, name)

/** The slots with these names, each holder with its number as its count. */
export async function readSlots(
  connection: Connection,
  node: Redis,
  names: readonly string[],
): Promise<Row[]> {
  const [time, ...read] = await connection.ask(node, [
    ['time'],
    ...names.flatMap((name) => [
      ['zrange', slotsKey(name), '0', String(2 * MOST_HOLDERS - 1), 'WITHSCORES'],
      ['pttl', slotsKey(name)],
    ]),
  ])
  const now = serverTime(value(time))
  const waiting = await listeners(
    connection,
    node,
    names.map((name) => prefixed('channel', slotsKey(name))),
  )
  return names.flatMap((name, at): Row[] => {
    const ttl = number(read[2 * at + 1]) ?? -2
    if (ttl === -2) return []
    const scores = pairs(value(read[2 * at]))
    const holders = [...scores].flatMap(([owner, index]) => {
      const leaseEnd = scores.get(`${owner}:lease`)
      return leaseEnd === undefined ? [] : [newHolder(owner, index, Math.max(0, leaseEnd - now))]
    })
    const processes = waiting[at]!
    return [
      {
        ...{ name, kind: 'slots', mode: null, ttl, holders, moreHolders: 0 },
        ...{ waiting: { processes, callers: null, queue: null }, value: null },
      },
    ]
  })
}

function pairs(flat: unknown): Map<string, number> {
  const list = (flat ?? []) as string[]
  return new Map(
    list.flatMap((member, at) => (at % 2 === 0 ? [[member, Number(list[at + 1])] as const] : [])),
  )
}
