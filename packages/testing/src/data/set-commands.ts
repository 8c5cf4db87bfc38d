import type { Commands } from './command'

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
