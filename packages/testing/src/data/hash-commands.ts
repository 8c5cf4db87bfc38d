import type { Commands } from './command'
import { OK, ReplyError } from './keyspace'
import { increased, integer, parseInteger } from './numbers'

const newHash = () => new Map<string, string>()

/** Commands on hashes. */
export const hashCommands: Commands = {
  hget: [2, (db, [key, field]) => db.read(key, 'hash')?.get(field) ?? null],
  hmget: [
    -2,
    (db, [key, ...fields]) => {
      const hash = db.read(key, 'hash')
      return fields.map((field) => hash?.get(field) ?? null)
    },
  ],
  hgetall: [1, (db, [key]) => [...(db.read(key, 'hash') ?? [])].flat()],
  hkeys: [1, (db, [key]) => [...(db.read(key, 'hash')?.keys() ?? [])]],
  hvals: [1, (db, [key]) => [...(db.read(key, 'hash')?.values() ?? [])]],
  hlen: [1, (db, [key]) => db.read(key, 'hash')?.size ?? 0],
  hexists: [2, (db, [key, field]) => Number(db.read(key, 'hash')?.has(field) ?? false)],
  hset: [-3, (db, [key, ...pairs]) => set('hset', db.write.bind(db, key, 'hash', newHash), pairs)],
  hmset: [
    -3,
    (db, [key, ...pairs]) => {
      set('hmset', db.write.bind(db, key, 'hash', newHash), pairs)
      return OK
    },
  ],
  hsetnx: [
    3,
    (db, [key, field, value]) => {
      const hash = db.write(key, 'hash', newHash)
      if (hash.has(field)) return 0
      hash.set(field, value)
      return 1
    },
  ],
  hdel: [
    -2,
    (db, [key, ...fields]) => {
      const hash = db.read(key, 'hash')
      if (!hash) return 0
      const removed = fields.filter((field) => hash.delete(field)).length
      db.removeIfEmpty(key, hash.size)
      return removed
    },
  ],
  hincrby: [
    3,
    (db, [key, field, by]) => {
      const step = integer(by)
      const before = db.read(key, 'hash')?.get(field) ?? '0'
      const value = parseInteger(before)
      if (value === undefined) throw new ReplyError('ERR hash value is not an integer')
      const sum = increased(value, step)
      db.write(key, 'hash', newHash).set(field, String(sum))
      return Number(sum)
    },
  ],
}

function set(command: string, write: () => unknown, pairs: readonly string[]): number {
  if (pairs.length % 2 === 1) throw new ReplyError(`ERR wrong number of arguments for '${command}' command`)
  const hash = write() as Map<string, string>
  const { size } = hash
  for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at]!, pairs[at + 1]!)
  return hash.size - size
}
