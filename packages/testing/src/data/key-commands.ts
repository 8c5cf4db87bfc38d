import type { Commands } from './command'
import { OK, Status, syntaxError } from './keyspace'
import { glob, integer } from './numbers'

/** Commands on keys of every type. */
export const keyCommands: Commands = {
  del: [-1, (db, keys) => keys.filter((key) => db.remove(key)).length],
  unlink: [-1, (db, keys) => keys.filter((key) => db.remove(key)).length],
  exists: [-1, (db, keys) => keys.filter((key) => db.has(key)).length],
  type: [1, (db, [key]) => new Status(db.typeOf(key))],
  pttl: [1, (db, [key]) => db.timeToLive(key)],
  ttl: [
    1,
    (db, [key]) => {
      const ms = db.timeToLive(key)
      return ms < 0 ? ms : Math.floor((ms + 500) / 1000)
    },
  ],
  persist: [1, (db, [key]) => Number(db.persist(key))],
  pexpire: [
    -2,
    (db, [key, ms, ...options]) => {
      if (options.length > 0) throw syntaxError()
      return Number(db.expireAt(key, db.after(integer(ms), 'pexpire')))
    },
  ],
  expire: [
    -2,
    (db, [key, seconds, ...options]) => {
      if (options.length > 0) throw syntaxError()
      return Number(db.expireAt(key, db.after(integer(seconds) * 1000n, 'expire')))
    },
  ],
  pexpireat: [
    -2,
    (db, [key, when, ...options]) => {
      if (options.length > 0) throw syntaxError()
      return Number(db.expireAt(key, Number(integer(when))))
    },
  ],
  time: [0, ({ time }) => [String(Math.floor(time / 1000)), String(Math.floor((time % 1000) * 1000))]],
  keys: [
    1,
    (db, [pattern]) => {
      const matches = glob(pattern)
      return db.keys().filter((key) => matches.test(key))
    },
  ],
  dbsize: [0, (db) => db.keys().length],
  flushall: [
    0,
    (db) => {
      db.flush()
      return OK
    },
  ],
  ping: [0, () => new Status('PONG')],
}
