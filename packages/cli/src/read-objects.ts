import type { Redis } from 'ioredis'
import { noteRefusals, value, type WantedOf } from './answers'
import type { Connection } from './connection'
import type { Row } from './model'
import { readLimiters } from './read-limiters'
import { readHashes } from './read-locks'
import { readAbsent, readStrings } from './read-strings'

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
