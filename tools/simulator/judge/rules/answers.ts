import { endOf } from '../faults'
import type { FaultInjected, Time } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

/** Errors that only a broken server or connection explains. */
const OF_AN_OUTAGE = ['REDIS_UNAVAILABLE', 'REDIS_REFUSED', 'LOCK_NOT_REPLICATED', 'LOCK_QUORUM']
/** Errors that a caller may meet by what it did, or by what it was told. */
const OF_THE_CALLER = [
  ...['LOCK_LOST', 'LOCK_TIMEOUT', 'PERMIT_NOT_HELD', 'ILLEGAL_MONITOR_STATE', 'REDISSON_SHUTDOWN'],
  ...['AbortError', 'aborted'],
]

/** Every call of a living client is answered, and fails only as docs/guarantees.md says. */
export function judgeAnswers(reading: Reading): Violation[] {
  const violations: Violation[] = []
  for (const { called, failed, end, begin } of reading.calls.values()) {
    const { client, caller, object, operation, id } = called
    if (reading.javaClients.has(client)) continue
    const who = `${client}/${caller}`
    const call = `${called.as ?? operation} of ${object.name}`
    if (end === undefined) {
      if (!reading.end || reading.killedAt.has(client)) continue
      const what = `${who} got no answer to ${call} (call ${id})`
      violations.push({ rule: 'unanswered', at: reading.lastTime, name: object.name, what, events: [begin] })
      continue
    }
    if (!failed || OF_THE_CALLER.includes(failed.error)) continue
    const [from, to] = [reading.timeOf(begin), failed.at]
    const touched = { client, name: object.name }
    const isExcused =
      (OF_AN_OUTAGE.includes(failed.error) && reading.faults.excuses('errors', touched, from, to)) ||
      // A member that was acquired is gone before the others are.
      (failed.error === 'LOCK_QUORUM' && reading.faults.excuses('loss', touched, from, to))
    if (isExcused || !reading.ran(client, from, to)) continue
    const what = `${who} got ${failed.error} from ${call}, and no fault explains it`
    violations.push({ rule: 'unexpected-error', at: to, name: object.name, what, events: [begin, end] })
  }
  return violations
}

/** A job that runs once begins again only when `atLeast` is over. */
export function judgeRunOnce(reading: Reading): Violation[] {
  const violations: Violation[] = []
  const last = new Map<string, { readonly at: number; readonly index: number; readonly lease: number }>()
  const { latency, drift } = reading.history.limits
  for (const { call, enteredAt, owner } of reading.holds) {
    const { object, lease } = call
    if (object.kind !== 'run-once' || lease === undefined) continue
    const at = reading.timeOf(enteredAt)
    const before = last.get(object.name)
    last.set(object.name, { at, index: enteredAt, lease })
    // The lease began on the server, at most one message before the answer was here.
    if (!before || at - before.at >= before.lease * (1 - drift) - 2 * latency) continue
    const isExcused = (['data', 'force'] as const).some((excuse) =>
      reading.faults.excuses(excuse, { name: object.name }, before.at, at),
    )
    if (isExcused || hasAbsence(reading, before.at, at)) continue
    const what = `${owner} ran ${object.name} again ${at - before.at} ms after it began, at least ${before.lease} ms were asked for`
    violations.push({ rule: 'run-again', at, name: object.name, what, events: [before.index, enteredAt] })
  }
  return violations
}

/** An answer that came to a suspended client is as old as its suspension. */
function hasAbsence(reading: Reading, from: number, to: number): boolean {
  return reading.history.events.some(({ at, type }) => type === 'client' && at >= from - 60_000 && at <= to)
}

/** A new primary has what was released before its first answer, at most for so long, in ms, while the client lives (guarantee 4). */
const FREE_WITHIN = 1_000
/** A connection to the new primary is opened at the second try, or at the third. */
const CONNECTED_WITHIN = 500
/** They are the failover itself. */
const OF_A_FAILOVER = ['failover', 'promotion', 'replica behind', 'WAIT fails']

/** What its owner released is free on a new primary, unless other faults keep the client from it, or it was new to the old one. */
export function judgeReleased(reading: Reading): Violation[] {
  return reading.faults.all
    .filter(({ rewinds, forgets }) => rewinds && !forgets)
    .flatMap((failover) => {
      const at = failover.at + FREE_WITHIN + CONNECTED_WITHIN
      if (at > reading.lastTime || isDisturbed(reading, failover, at)) return []
      return reading.holds.flatMap((hold) => heldStill(reading, hold, failover.at, at))
    })
}

function isDisturbed(reading: Reading, failover: FaultInjected, to: Time): boolean {
  return reading.faults.all.some((fault) => {
    if (fault === failover || fault.at > to) return false
    if (fault.at > failover.at) return true
    return !OF_A_FAILOVER.includes(fault.kind) && endOf(fault) >= failover.at
  })
}

function heldStill(reading: Reading, hold: Hold, failover: Time, at: Time): Violation[] {
  const { call, fields, keys, releasedAt, ending, side, enteredAt } = hold
  const { client } = call
  if (ending !== 'released' || releasedAt === undefined || call.object.kind === 'red') return []
  if (reading.timeOf(releasedAt) > failover || reading.javaClients.has(client)) return []
  const gone = [reading.killedAt.get(client), reading.closedAt.get(client)]
  if (gone.some((index) => index !== undefined && reading.timeOf(index) <= at)) return []
  if (!reading.ran(client, failover, at)) return []
  // Other readers keep the hash, and so the field of one whose lease is over. It keeps no writer out.
  if (side === 'read' && call.lease !== undefined && reading.timeOf(enteredAt) + call.lease <= at) return []
  return keys.flatMap((name) => {
    const fact = reading.keys.get(name)?.findLast(({ event }) => event.at <= at)
    const isHeld = fact?.event.owners.some((owner) => fields.includes(owner))
    if (!fact || !isHeld) return []
    const what =
      `${hold.owner} released ${name} ${ms(failover - reading.timeOf(releasedAt))} before a failover, and ${ms(at - failover)} after ` +
      'it the new primary has its hold still'
    return [{ rule: 'held-again', at, name, events: [releasedAt, fact.index], what }]
  })
}
