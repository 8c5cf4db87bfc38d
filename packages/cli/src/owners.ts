import type { Redis } from 'ioredis'
import { suffixed } from 'rlock/internal'
import { noteRefusals, number, value } from './answers'
import type { Connection } from './connection'
import { isCount, newHolder, parseOwner, type Row } from './model'

/** A lock is listed with so many holders; the others are counted. */
export const MOST_HOLDERS = 10_000
/** So many fields of a hash come at once. */
const PAGE = 500
/** A permit of an expirable semaphore ends "never" at this score. */
const NEVER = 922_337_203_685_477

export interface Owners {
  readonly counts: ReadonlyMap<string, string>
  /** Whether the field `mode` of a read-write lock was among what was read. */
  readonly hasMode: boolean
}

/**
 * The owners and counts of hashes, each read until its end or until it has MOST_HOLDERS; undefined for a hash that has another field.
 * A page of HSCAN is no whole: a hash of more than 512 fields comes in several.
 */
export async function readOwners(
  connection: Connection,
  node: Redis,
  names: readonly string[],
): Promise<(Owners | undefined)[]> {
  const first = await connection.ask(
    node,
    names.map((name) => ['hscan', name, '0', 'count', PAGE]),
  )
  noteRefusals(connection, first)
  return await Promise.all(
    names.map(async (name, at) => {
      const counts = new Map<string, string>()
      let hasMode = false
      for (let answer = value(first[at]); ; ) {
        const [cursor, fields] = (answer ?? ['0', []]) as [string, string[]]
        for (let i = 0; i < fields.length; i += 2) {
          const [field, count] = [fields[i]!, fields[i + 1]]
          if (field === 'mode') hasMode = true
          else if (parseOwner(field) && isCount(count)) counts.set(field, count)
          else return undefined
        }
        if (cursor === '0' || counts.size >= MOST_HOLDERS) return { counts, hasMode }
        const [next] = await connection.ask(node, [['hscan', name, cursor, 'count', PAGE]])
        answer = value(next)
      }
    }),
  )
}

/** When a permit ends that has this score, in ms from now; -1: never. */
export const permitTtl = (ends: number, now: number) => (ends >= NEVER ? -1 : Math.max(0, ends - now))

/** The time of the server in ms. */
export function serverTime(answer: unknown): number {
  const [seconds, micros] = (answer ?? [0, 0]) as [string, string]
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
}

/** The row with this holder, also where it is one of those that the row does not list. */
export async function withHolder(connection: Connection, row: Row, owner: string): Promise<Row> {
  if (row.moreHolders === 0 || row.holders.some((holder) => holder.owner === owner)) return row
  const node = connection.primaryOf(row.name)
  const permit = /^permit:([0-9a-f]{32})$/.exec(owner)?.[1]
  const [found, time] = await connection.ask(node, [
    permit === undefined
      ? ['hget', row.name, owner]
      : ['zscore', suffixed(row.name, 'timeout'), Buffer.from(permit, 'hex')],
    ['time'],
  ])
  const seen = number(found)
  if (seen === null) return row
  const holder =
    permit === undefined
      ? newHolder(owner, seen, row.ttl)
      : newHolder(owner, null, permitTtl(seen, serverTime(value(time))))
  return { ...row, holders: [...row.holders, holder], moreHolders: row.moreHolders - 1 }
}
