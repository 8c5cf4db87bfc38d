import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

/**
 * A hold is told of its end before the server lets another owner in, and is not told of an end without a cause, nor of that which
 * its own release made.
 */
export function judgeLosses(reading: Reading): Violation[] {
  return [...noticedLate(reading), ...unexplained(reading)]
}

/** The key ran out on the server while its owner still believed that it is inside (guarantee 5). */
function noticedLate(reading: Reading): Violation[] {
  const byField = new Map<string, Hold[]>()
  for (const hold of reading.holds)
    for (const field of hold.fields) {
      const others = byField.get(field)
      if (others) others.push(hold)
      else byField.set(field, [hold])
    }
  const violations: Violation[] = []
  for (const [name, facts] of reading.keys) {
    let before: readonly string[] = []
    for (const { event, index } of facts) {
      const gone = event.expired ? before.filter((owner) => !event.owners.includes(owner)) : []
      before = event.owners
      for (const field of gone) {
        const isInside = ({ enteredAt, leftAt = Number.POSITIVE_INFINITY }: Hold) =>
          enteredAt < index && leftAt > index
        const hold = byField.get(field)?.find(isInside)
        if (!hold) continue
        const { client } = hold.call
        if (reading.javaClients.has(client) || hold.suspendedAt !== undefined) continue
        const from = reading.timeOf(hold.calledAt)
        if (reading.faults.excuses('data', { name }, from, event.at)) continue
        if (reading.mayMissRenewal(hold, from, event.at)) continue
        const told =
          hold.toldAt === undefined
            ? 'was never told'
            : `was told ${ms(reading.timeOf(hold.toldAt) - event.at)} later`
        violations.push({
          ...{ rule: 'noticed-late', at: event.at, name, events: [hold.enteredAt, index] },
          what: `the lease of ${hold.owner} on ${name} ran out while it was inside: it ${told}`,
        })
      }
    }
  }
  return violations
}

/** A hold that the watchdog renews is lost by a fault only. */
function unexplained(reading: Reading): Violation[] {
  const violations: Violation[] = []
  for (const [index, told] of reading.history.events.entries()) {
    if (told.type !== 'told' || told.how === 'lease' || told.how === 'gone') continue
    const hold = reading.calls.get(told.hold)?.hold
    // A level with a lease may be all that is left of it.
    const isLeased = reading.calls.get(told.hold)?.called.lease !== undefined
    if (!hold || isLeased || reading.javaClients.has(hold.call.client)) continue
    const { client, object } = hold.call
    const from = reading.timeOf(hold.calledAt)
    const endedAt = reading.closedAt.get(client) ?? reading.killedAt.get(client) ?? index
    if (endedAt < index || hold.suspendedAt !== undefined) continue
    const isCaused = [object.name, ...hold.keys].some((name) =>
      (['loss', 'data', 'force'] as const).some((excuse) =>
        reading.faults.excuses(excuse, { client, name }, from, told.at),
      ),
    )
    // Told of by the answer to its own release: nothing was lost.
    if (
      isCaused ||
      isAtLimit(reading, hold, told.at) ||
      hold.ending === 'released' ||
      wasForced(reading, hold, told.at)
    )
      continue
    violations.push({
      ...{ rule: 'unexplained-loss', at: told.at, name: object.name, events: [hold.enteredAt] },
      what: `${hold.owner} was told that ${object.name} is lost, and nothing was broken`,
    })
  }
  return violations
}

/** Its maxHoldTime is over, less a margin of a tenth, a second at most, and what is lost to whole ms. */
function isAtLimit(reading: Reading, { call, calledAt }: Hold, at: number): boolean {
  const { limit } = call
  if (limit === undefined) return false
  const told = limit - Math.min(limit / 10, 1_000) - 2
  return at - reading.timeOf(calledAt) >= told * (1 - reading.history.limits.drift)
}

function wasForced(reading: Reading, hold: Hold, until: number): boolean {
  for (const { called, begin } of reading.calls.values()) {
    const isForced = called.operation === 'force-release' && hold.keys.includes(called.object.name)
    if (isForced && reading.timeOf(begin) <= until) return true
  }
  return false
}
