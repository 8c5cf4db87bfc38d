import type { Commands } from './command'
import type { Keyspace } from './keyspace'
import { OK, type Reply, ReplyError, syntaxError } from './keyspace'
import { parseInteger, position, range } from './numbers'

const newList = (): string[] => []

/** Commands on lists. */
export const listCommands: Commands = {
  llen: [1, (db, [key]) => db.read(key, 'list')?.length ?? 0],
  lindex: [2, (db, [key, at]) => db.read(key, 'list')?.at(position(at)) ?? null],
  lrange: [
    3,
    (db, [key, from, to]) => {
      const [first, last] = [position(from), position(to)]
      const list = db.read(key, 'list') ?? []
      return list.slice(...range(first, last, list.length))
    },
  ],
  rpush: [-2, (db, [key, ...values]) => db.write(key, 'list', newList).push(...values)],
  lpush: [-2, (db, [key, ...values]) => db.write(key, 'list', newList).unshift(...values.reverse())],
  lpop: [-1, (db, [key, ...count]) => pop(db, 'lpop', key, count, (list) => list.shift()!)],
  rpop: [-1, (db, [key, ...count]) => pop(db, 'rpop', key, count, (list) => list.pop()!)],
  lrem: [3, (db, [key, count, value]) => remove(db, key, position(count), value)],
  ltrim: [
    3,
    (db, [key, from, to]) => {
      const [first, last] = [position(from), position(to)]
      const list = db.read(key, 'list')
      if (!list) return OK
      const kept = list.slice(...range(first, last, list.length))
      list.splice(0, list.length, ...kept)
      db.removeIfEmpty(key, list.length)
      return OK
    },
  ],
  linsert: [
    -4,
    (db, [key, where, pivot, value]) => {
      if (!/^(before|after)$/i.test(where)) throw syntaxError()
      const list = db.read(key, 'list')
      if (!list) return 0
      const at = list.indexOf(pivot)
      if (at < 0) return -1
      list.splice(/^after$/i.test(where) ? at + 1 : at, 0, value!)
      return list.length
    },
  ],
}

/** One element or, with a count, a list of so many. */
function pop(
  db: Keyspace,
  name: string,
  key: string,
  [count, ...more]: readonly string[],
  take: (list: string[]) => string,
): Reply {
  if (more.length > 0) throw new ReplyError(`ERR wrong number of arguments for '${name}' command`)
  const wanted = count === undefined ? 1n : parseInteger(count)
  if (wanted === undefined || wanted < 0n) throw new ReplyError('ERR value is out of range, must be positive')
  const list = db.read(key, 'list')
  if (!list) return null
  const values = Array.from({ length: Math.min(Number(wanted), list.length) }, () => take(list))
  db.removeIfEmpty(key, list.length)
  return count === undefined ? values[0]! : values
}

/** Removes `count` elements that equal `value`: from the end if it is negative, all if it is 0. */
function remove(db: Keyspace, key: string, count: number, value: string): number {
  const list = db.read(key, 'list')
  if (!list) return 0
  const found = list.flatMap((element, at) => (element === value ? [at] : []))
  const most = Math.abs(count) || found.length
  const removed = new Set(count < 0 ? found.slice(-most) : found.slice(0, most))
  const kept = list.filter((_, at) => !removed.has(at))
  list.splice(0, list.length, ...kept)
  db.removeIfEmpty(key, list.length)
  return removed.size
}
