import { prefixed, suffixed } from 'rlock/internal'
import { value } from '../answers'
import { describeCycle } from '../explain'
import { byNode, slices } from '../find'
import { deadlocks } from '../graph'
import { type Kind, THREAD_ID } from '../model'
import { namesIn } from '../names'
import { serverTime } from '../owners'
import { unlockCommand } from '../shell'
import { safe } from '../terminal'
import { showTime } from '../times'
import type { Check, Finding, Patient } from './check'
import { mends } from './check'

const RUNBOOK = 'docs/operations/troubleshooting.md'
const FAIR = 'docs/guides/fair-lock.md'

/** Locks that never end by themselves, and counts that no lock writes. */
export const locks: Check = ({ rows }) =>
  rows.flatMap(({ name, kind, ttl, holders, value: left }): Finding[] => {
    const found: Finding[] = []
    if (ttl === -1 && holders.length > 0 && !/semaphore|latch/.test(kind))
      found.push({
        id: 'no-expiry',
        level: 'error',
        message: `the lock ${safe(name)} is held and its key has no expiry`,
        page: RUNBOOK,
        fix: `If its holder is dead: ${unlockCommand(name, kind === 'token')}`,
      })
    // The count of a slot is its number, from 0 on.
    if (kind !== 'slots' && holders.some(({ count }) => count !== null && count < 1))
      found.push({
        id: 'bad-count',
        level: 'error',
        message: `the lock ${safe(name)} has a holder with a count below 1`,
        page: RUNBOOK,
        fix: 'A program that is neither Redisson nor rlock wrote it. Find it, and then delete the key.',
      })
    if (left !== null && left < 0)
      found.push({
        id: 'negative-permits',
        level: 'warn',
        message: `${safe(name)} has ${left} permits: nothing is granted until as many are released`,
        page: 'docs/guides/semaphores.md',
        fix: 'addPermits() took more than there were. Add them again if that was not meant.',
      })
    return found
  })

/**
 * Holds that are older than the user thinks right, or else than their own `maxHoldTime`, as far as their process says when they
 * began.
 */
export const longHolds: Check = ({ rows, longerThan }) =>
  rows.flatMap(({ name, kind, holders }) =>
    holders.flatMap(({ owner, heldFor, maxHoldTime, label }): Finding[] =>
      heldFor === null || heldFor <= (longerThan ?? maxHoldTime ?? Number.POSITIVE_INFINITY)
        ? []
        : [
            {
              id: 'long-hold',
              level: 'warn',
              message: `${safe(name)} has been held for ${showTime(heldFor)} by ${safe(owner, 60)}, ${safe(label ?? 'an unknown process')}`,
              page: RUNBOOK,
              fix: `See what its process does. If it is stuck: ${unlockCommand(name, kind === 'token')}`,
            },
          ],
    ),
  )

/** Two objects of different kinds on one name. They do not exclude each other, or fail with WRONGTYPE. */
export const twoKinds: Check = async ({ rows, connection }) => {
  const findings: Finding[] = []
  const asked = rows.flatMap(({ name, kind }) => othersOf(name, kind).map((key) => ({ name, kind, key })))
  for (const [node, all] of byNode(connection, asked, ({ name }) => name)) {
    const answers = await connection.ask(
      node,
      all.map(({ key }) => ['exists', key]),
    )
    for (const [at, { name, kind, key }] of all.entries())
      if (value(answers[at]) === 1)
        findings.push({
          id: 'two-kinds',
          level: 'error',
          message: `${safe(name)} is a ${kind}, and ${safe(key)} belongs to another kind of object of the same name`,
          page: 'docs/reference/keys-and-channels.md',
          fix: 'Give each object a name of its own.',
        })
  }
  return findings
}

/** Keys that an object of this kind does not have. */
function othersOf(name: string, kind: Kind): string[] {
  const ofLocks = [prefixed('redisson_lock_queue', name), prefixed('redisson_lock_token', name)]
  if (kind === 'token') return []
  if (/semaphore|latch/.test(kind)) return ofLocks
  return [suffixed(name, 'timeout'), ...(kind === 'read-write' ? ofLocks : [])]
}

/** Places of fair locks whose waiter is gone, and queues and deadlines that disagree. */
export const fairQueues: Check = async ({ connection, nodes }) => {
  const findings: Finding[] = []
  for (const { redis } of nodes)
    for (const type of ['list', 'zset'])
      for await (const keys of slices(connection, redis, type, 'redisson_lock_*:*'))
        for (const key of keys) {
          const [, role, rest] = /^redisson_lock_(queue|timeout):(.*)$/s.exec(key) ?? []
          if (rest === undefined) continue
          const [queue, deadlines] = [`redisson_lock_queue:${rest}`, `redisson_lock_timeout:${rest}`]
          // A pair is looked at once: at its queue, or at the deadlines of a queue that is missing.
          const [places, scores, queued, time] = await connection.ask(redis, [
            ['lrange', queue, 0, -1],
            ['zrange', deadlines, 0, -1, 'WITHSCORES'],
            ['exists', queue],
            ['time'],
          ])
          if (role === 'timeout' && value(queued) === 1) continue
          const listed = (value(places) ?? []) as string[]
          const flat = (value(scores) ?? []) as string[]
          const ends = new Map(
            flat.flatMap((owner, at) => (at % 2 === 0 ? [[owner, flat[at + 1]!] as const] : [])),
          )
          const inQueue = new Set(listed)
          const alone = [
            ...[...ends.keys()].filter((owner) => !inQueue.has(owner)),
            ...[...inQueue].filter((owner) => !ends.has(owner)),
          ]
          const name = safe(rest)
          if (alone.length > 0)
            findings.push({
              id: 'fair-queue',
              level: 'error',
              message: `the queue and the deadlines of the fair lock ${name} disagree in ${alone.length} places`,
              page: FAIR,
              fix: 'rlock doctor --fix removes the deadlines without a place, and the places without a deadline',
              mend: () => mends.alignPlaces(redis, queue, deadlines, alone),
            })
          const [head] = listed
          const deadline = head === undefined ? undefined : ends.get(head)
          if (head === undefined || deadline === undefined) continue
          const late = serverTime(value(time)) - Number(deadline)
          if (late > 1_000)
            findings.push({
              id: 'dead-fair-place',
              level: 'warn',
              message: `the first place of the fair lock ${name} lapsed ${Math.round(late / 1_000)} s ago: its waiter is gone`,
              page: FAIR,
              fix: 'The next caller removes it. Without one it stays: rlock doctor --fix removes it',
              mend: () => mends.removePlace(redis, queue, deadlines, head, deadline),
            })
        }
  return findings
}

const TIMEOUT_KEY = new RegExp(`^(.*):([0-9a-f-]{36}:${THREAD_ID}):rwlock_timeout:\\d+$`, 's')

/** Keys that belong to a hold which is gone, and counters of fenced locks that will start again. */
export const companions: Check = async ({ connection, nodes }) => {
  const findings: Finding[] = []
  for (const { redis } of nodes) {
    for await (const keys of slices(connection, redis, 'string', '*:rwlock_timeout:*')) {
      const timeouts = keys.flatMap((key) => {
        const [, part = '', owner = ''] = TIMEOUT_KEY.exec(key) ?? []
        const locks = namesIn(part)
        // A name that is no text was not read as it is.
        return locks.length > 0 && !part.includes('\ufffd') ? [{ key, locks, owner }] : []
      })
      const answers = await connection.ask(
        redis,
        timeouts.flatMap(({ key, locks, owner }) => [
          ...locks.map((lock) => ['hexists', lock, owner]),
          // After the hold: since the search for keys both may have gone.
          ['exists', key],
        ]),
      )
      let next = 0
      for (const { key, locks, owner } of timeouts) {
        // Where an answer is missing, nothing is known: the lock may be another user's, or in another slot.
        const isGone = locks.map(() => value(answers[next++])).every((answer) => answer === 0)
        const isThere = value(answers[next++]) === 1
        if (!isGone || !isThere) continue
        findings.push({
          id: 'orphaned-timeout',
          level: 'warn',
          message: `${safe(key, 120)} is the timeout of a read hold that is gone`,
          page: 'docs/guides/read-write-locks.md',
          fix: 'rlock doctor --fix deletes it; else it expires',
          mend: () => mends.deleteTimeout(redis, key, locks, owner),
        })
      }
    }
    for await (const keys of slices(connection, redis, 'string', 'redisson_lock_token:*')) {
      const answers = await connection.ask(
        redis,
        keys.flatMap((key) => [
          ['pttl', key],
          ['get', key],
        ]),
      )
      for (const [at, key] of keys.entries()) {
        // The timeout of a reader is no counter, whatever its lock is called.
        const isCounter = !TIMEOUT_KEY.test(key) && /^\d+$/.test(String(value(answers[2 * at + 1]) ?? ''))
        if (isCounter && Number(value(answers[2 * at]) ?? -2) >= 0)
          findings.push({
            id: 'token-expires',
            level: 'error',
            message: `${safe(key)}, the counter of a fenced lock, has an expiry: then its tokens start again at 1`,
            page: 'docs/guides/fenced-lock.md',
            fix: 'rlock doctor --fix removes the expiry. A multi lock of Java with a fenced member sets it',
            mend: () => mends.keepCounter(redis, key),
          })
      }
    }
  }
  return findings
}

/** Callers that wait for each other. */
export const cycles: Check = async ({ connection, processes }: Patient) =>
  (await deadlocks(connection, processes)).map((cycle) => ({
    id: 'deadlock',
    level: 'error' as const,
    message: describeCycle(cycle),
    page: RUNBOOK,
    fix: 'Take the locks in one order everywhere, or as one multi lock. To end it now, end one of these processes.',
  }))
