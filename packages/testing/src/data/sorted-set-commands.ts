import type { Commands } from './command'
import type { Keyspace } from './keyspace'
import { ReplyError, syntaxError } from './keyspace'
import { doubleText, parseDouble, position, range } from './numbers'

type Scored = readonly [member: string, score: number]

/** Commands on sorted sets. */
export const sortedSetCommands: Commands = {
  zadd: [-3, (db, [key, ...words]) => add(db, key, words)],
  zincrby: [3, (db, [key, by, member]) => increase(db, key, score(by), member)],
  zcard: [1, (db, [key]) => db.read(key, 'zset')?.size ?? 0],
  zscore: [2, (db, [key, member]) => scoreText(db.read(key, 'zset')?.get(member))],
  zmscore: [
    -2,
    (db, [key, ...members]) => {
      const set = db.read(key, 'zset')
      return members.map((member) => scoreText(set?.get(member)))
    },
  ],
  zrank: [2, (db, [key, member]) => rank(sorted(db, key), member)],
  zrevrank: [2, (db, [key, member]) => rank(sorted(db, key).reverse(), member)],
  zrem: [-2, (db, [key, ...members]) => remove(db, key, members)],
  zcount: [
    3,
    (db, [key, min, max]) => {
      const within = interval(min, max)
      return sorted(db, key).filter(within).length
    },
  ],
  zrange: [
    -3,
    (db, [key, from, to, ...options]) => {
      const [first, last] = [position(from), position(to)]
      const withScores = options.map((option) => option.toLowerCase()).join() === 'withscores'
      if (options.length > 0 && !withScores) throw syntaxError()
      const members = sorted(db, key)
      return listed(members.slice(...range(first, last, members.length)), withScores)
    },
  ],
  zrangebyscore: [-3, (db, [key, min, max, ...options]) => byScore(db, key, min, max, options)],
  zremrangebyscore: [
    3,
    (db, [key, min, max]) => {
      const within = interval(min, max)
      return remove(db, key, sorted(db, key).filter(within).map(first))
    },
  ],
  zremrangebyrank: [
    3,
    (db, [key, from, to]) => {
      const places = [position(from), position(to)] as const
      const members = sorted(db, key)
      return remove(db, key, members.slice(...range(...places, members.length)).map(first))
    },
  ],
}

const first = ([member]: Scored) => member

/** By score, and members of one score by their bytes. */
function sorted(db: Keyspace, key: string): Scored[] {
  return [...(db.read(key, 'zset') ?? [])].sort(
    ([member, score], [other, otherScore]) => score - otherScore || (member < other ? -1 : 1),
  )
}

function scoreText(score: number | undefined): string | null {
  return score === undefined ? null : doubleText(score)
}

function listed(members: readonly Scored[], withScores: boolean): string[] {
  return members.flatMap(([member, score]) => (withScores ? [member, doubleText(score)] : [member]))
}

function rank(members: readonly Scored[], wanted: string): number | null {
  const at = members.findIndex(([member]) => member === wanted)
  return at < 0 ? null : at
}

function remove(db: Keyspace, key: string, members: readonly string[]): number {
  const set = db.read(key, 'zset')
  if (!set) return 0
  const removed = members.filter((member) => set.delete(member)).length
  db.removeIfEmpty(key, set.size)
  return removed
}

function add(db: Keyspace, key: string, words: readonly string[]): number {
  const options = new Set<string>()
  let at = 0
  for (; /^(nx|xx|gt|lt|ch)$/i.test(words[at] ?? ''); at++) options.add(words[at]!.toLowerCase())
  const pairs = words.slice(at)
  if (pairs.length === 0 || pairs.length % 2 === 1) throw syntaxError()
  const scores = pairs.filter((_, index) => index % 2 === 0).map(score)
  const set = db.write(key, 'zset', () => new Map())
  let [added, changed] = [0, 0]
  scores.forEach((value, index) => {
    const member = pairs[2 * index + 1]!
    const before = set.get(member)
    if (before === undefined ? options.has('xx') : options.has('nx')) return
    if (before !== undefined && options.has('gt') && value <= before) return
    if (before !== undefined && options.has('lt') && value >= before) return
    if (before === undefined) added++
    else if (before !== value) changed++
    set.set(member, value)
  })
  db.removeIfEmpty(key, set.size)
  return options.has('ch') ? added + changed : added
}

function increase(db: Keyspace, key: string, by: number, member: string): string {
  const sum = (db.read(key, 'zset')?.get(member) ?? 0) + by
  if (Number.isNaN(sum)) throw new ReplyError('ERR resulting score is not a number (NaN)')
  db.write(key, 'zset', () => new Map()).set(member, sum)
  return doubleText(sum)
}

function score(text: string): number {
  const value = parseDouble(text)
  if (value === undefined) throw new ReplyError('ERR value is not a valid float')
  return value
}

function interval(min: string, max: string): (member: Scored) => boolean {
  const [from, to] = [bound(min), bound(max)]
  return ([, value]) =>
    (from.exclusive ? value > from.at : value >= from.at) && (to.exclusive ? value < to.at : value <= to.at)
}

function bound(text: string): { at: number; exclusive: boolean } {
  const exclusive = text.startsWith('(')
  // Read as C reads numbers: leading spaces are skipped, and an empty text is 0.
  const number = (exclusive ? text.slice(1) : text).trimStart()
  const at = number === '' ? 0 : parseDouble(number)
  if (at === undefined) throw new ReplyError('ERR min or max is not a float')
  return { at, exclusive }
}

function byScore(db: Keyspace, key: string, min: string, max: string, options: readonly string[]) {
  let [withScores, offset, count] = [false, 0, -1]
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!.toLowerCase()
    if (option === 'withscores') withScores = true
    else if (option === 'limit' && at + 2 < options.length) {
      offset = position(options[++at]!)
      count = position(options[++at]!)
    } else throw syntaxError()
  }
  // Checked before the key is read, as in Redis.
  const within = interval(min, max)
  const members = sorted(db, key).filter(within)
  return listed(members.slice(offset, count < 0 ? undefined : offset + count), withScores)
}
