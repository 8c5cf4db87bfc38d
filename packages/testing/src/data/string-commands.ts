import type { Commands } from './command'
import { type Keyspace, OK, ReplyError, syntaxError } from './keyspace'
import { increased, integer } from './numbers'

/** Commands on strings. */
export const stringCommands: Commands = {
  get: [1, (db, [key]) => db.read(key, 'string')?.text ?? null],
  set: [-2, (db, [key, value, ...options]) => set(db, key, value, options)],
  setnx: [2, (db, [key, value]) => Number(set(db, key, value, ['nx']) !== null)],
  incr: [1, (db, [key]) => add(db, key, 1n)],
  decr: [1, (db, [key]) => add(db, key, -1n)],
  incrby: [2, (db, [key, by]) => add(db, key, integer(by))],
  decrby: [2, (db, [key, by]) => add(db, key, -integer(by))],
  strlen: [1, (db, [key]) => db.read(key, 'string')?.text.length ?? 0],
}

function add(db: Keyspace, key: string, by: bigint): number {
  const sum = increased(integer(db.read(key, 'string')?.text ?? '0'), by)
  db.write(key, 'string', () => ({ text: '' })).text = String(sum)
  return Number(sum)
}

function set(db: Keyspace, key: string, value: string, options: readonly string[]) {
  let onlyIf: string | undefined
  let expires: number | undefined
  let keepsExpiry = false
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!.toLowerCase()
    if (option === 'nx' || option === 'xx') {
      if (onlyIf !== undefined && onlyIf !== option) throw syntaxError()
      onlyIf = option
    } else if (option === 'keepttl') keepsExpiry = true
    else if ((option === 'px' || option === 'ex') && at + 1 < options.length && expires === undefined)
      expires = expiry(db, integer(options[++at]!), option)
    else throw syntaxError()
  }
  if (keepsExpiry && expires !== undefined) throw syntaxError()
  if (onlyIf !== undefined && db.has(key) !== (onlyIf === 'xx')) return null
  const timeToLive = keepsExpiry ? db.timeToLive(key) : -1
  db.replace(key, 'string', { text: value })
  if (expires !== undefined) db.expireAt(key, expires)
  else if (timeToLive >= 0) db.expireAt(key, db.now + timeToLive)
  return OK
}

function expiry(db: Keyspace, given: bigint, unit: 'px' | 'ex'): number {
  if (given <= 0n) throw new ReplyError("ERR invalid expire time in 'set' command")
  return db.after(unit === 'px' ? given : given * 1000n, 'set')
}

/** Commands on sets. */
export const setCommands: Commands = {
  sadd: [
    -2,
    (db, [key, ...members]) => {
      const set = db.write(key, 'set', () => new Set())
      const { size } = set
      for (const member of members) set.add(member)
      return set.size - size
    },
  ],
  srem: [
    -2,
    (db, [key, ...members]) => {
      const set = db.read(key, 'set')
      if (!set) return 0
      const removed = members.filter((member) => set.delete(member)).length
      db.removeIfEmpty(key, set.size)
      return removed
    },
  ],
  sismember: [2, (db, [key, member]) => Number(db.read(key, 'set')?.has(member) ?? false)],
  smembers: [1, (db, [key]) => [...(db.read(key, 'set') ?? [])]],
  scard: [1, (db, [key]) => db.read(key, 'set')?.size ?? 0],
}
