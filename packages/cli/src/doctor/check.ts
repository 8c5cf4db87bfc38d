import type { Redis } from 'ioredis'
import type { Connection } from '../connection'
import type { Row } from '../model'
import { inSlices } from '../names'
import type { ProcessAnswer } from '../processes'

/** What `doctor` says of one defect. */
export interface Finding {
  readonly id: string
  readonly level: 'error' | 'warn'
  readonly message: string
  /** The page that explains it: a file of the repository. */
  readonly page: string
  /** What to do. */
  readonly fix: string
  /** Does it, where that can do no harm, and resolves with whether it was still to be done. `--fix` calls it. */
  readonly mend?: () => Promise<boolean>
}

/** One primary, with what INFO says of it. */
export interface Node {
  readonly redis: Redis
  readonly address: string
  readonly info: ReadonlyMap<string, string>
}

/** What the checks look at. It is read once. */
export interface Patient {
  readonly connection: Connection
  readonly nodes: readonly Node[]
  readonly rows: readonly Row[]
  readonly processes: readonly ProcessAnswer[]
  /** The names that the services use, as the user says: patterns of the ACL. */
  readonly names: readonly string[]
  /** What is held for longer, in ms, is a finding. */
  readonly longerThan: number | undefined
  /** A value of CONFIG GET; undefined without the right. */
  config(node: Node, name: string): Promise<string | undefined>
}

/** A check: its findings, or none. */
export type Check = (patient: Patient) => Promise<readonly Finding[]> | readonly Finding[]

/** A check of each primary by itself: a row of a table. */
export interface NodeCheck {
  readonly id: string
  readonly level: 'error' | 'warn'
  readonly page: string
  readonly fix: string | ((node: Node) => string)
  /** What is wrong; undefined if nothing is. */
  readonly wrong: (node: Node, patient: Patient) => Promise<string | undefined> | string | undefined
}

export const fromTable =
  (table: readonly NodeCheck[]): Check =>
  async (patient) => {
    const findings: Finding[] = []
    for (const node of patient.nodes)
      for (const { wrong, ...check } of table) {
        const message = await wrong(node, patient)
        const fix = typeof check.fix === 'string' ? check.fix : check.fix(node)
        if (message !== undefined) findings.push({ ...check, fix, message: `${node.address}: ${message}` })
      }
    return findings
  }

// Each mend is one script that looks again: what the check saw may be in use by now. It answers how many entries it changed. Applied
// twice, it finds nothing more to change.

/**
 * Deletes the timeout of a read hold that is gone.
 *
 * KEYS[1]  the timeout
 * KEYS[2…] the locks that it may belong to: `{x}:…` is a key of the lock `x` and of the lock `{x}`
 * ARGV[1]  the owner field
 *
 * Answers  1 deleted; 0 one of the locks has this owner, or the key is something else
 */
const DELETE_TIMEOUT = `
for i = 2, #KEYS do
  if redis.call('hexists', KEYS[i], ARGV[1]) == 1 then return 0 end
end
if redis.call('get', KEYS[1]) ~= '1' then return 0 end
return redis.call('del', KEYS[1])`

/**
 * Makes the queue of a fair lock and its deadlines agree.
 *
 * KEYS[1]  the queue
 * KEYS[2]  the deadlines
 * ARGV[…]  the owner fields that were in one of them only
 *
 * Answers  how many of them were removed: those that still are in one of them only
 */
const ALIGN_PLACES = `
local listed, removed = {}, 0
for _, owner in ipairs(redis.call('lrange', KEYS[1], 0, -1)) do listed[owner] = true end
for _, owner in ipairs(ARGV) do
  local deadline = redis.call('zscore', KEYS[2], owner)
  if listed[owner] and not deadline then
    removed = removed + redis.call('lrem', KEYS[1], 0, owner)
  elseif deadline and not listed[owner] then
    removed = removed + redis.call('zrem', KEYS[2], owner)
  end
end
return removed`

/**
 * Removes the first place of a fair lock, whose waiter is gone.
 *
 * KEYS[1]  the queue
 * KEYS[2]  the deadlines
 * ARGV[1]  the owner field of the place
 * ARGV[2]  its deadline as it was seen: a living waiter moves it on
 *
 * Answers  1 removed; 0 it is not the first place any more, or has another deadline
 */
const REMOVE_PLACE = `
if redis.call('lindex', KEYS[1], 0) ~= ARGV[1] then return 0 end
if tonumber(redis.call('zscore', KEYS[2], ARGV[1])) ~= tonumber(ARGV[2]) then return 0 end
redis.call('lpop', KEYS[1])
return redis.call('zrem', KEYS[2], ARGV[1])`

/**
 * Removes the expiry of a counter of tokens.
 *
 * KEYS[1]  the counter
 *
 * Answers  1 removed; 0 it has none, or is no number
 */
const KEEP_COUNTER = `
if not string.match(redis.call('get', KEYS[1]) or '', '^%d+$') then return 0 end
return redis.call('persist', KEYS[1])`

/** Each place costs a walk through the queue, and the server does nothing else meanwhile. */
const PLACES_AT_ONCE = 100

const run = async (redis: Redis, script: string, keys: readonly string[], args: readonly string[] = []) =>
  Number(await redis.eval(script, keys.length, ...keys, ...args)) > 0

/** Each resolves with whether it changed something. */
export const mends = {
  deleteTimeout: (redis: Redis, key: string, locks: readonly string[], owner: string) =>
    run(redis, DELETE_TIMEOUT, [key, ...locks], [owner]),
  async alignPlaces(redis: Redis, queue: string, deadlines: string, owners: readonly string[]) {
    let isChanged = false
    for (const slice of inSlices(owners, PLACES_AT_ONCE))
      if (await run(redis, ALIGN_PLACES, [queue, deadlines], slice)) isChanged = true
    return isChanged
  },
  removePlace: (redis: Redis, queue: string, deadlines: string, owner: string, deadline: string) =>
    run(redis, REMOVE_PLACE, [queue, deadlines], [owner, deadline]),
  keepCounter: (redis: Redis, key: string) => run(redis, KEEP_COUNTER, [key]),
}
