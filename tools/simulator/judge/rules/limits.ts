import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

/** A hold with a `maxHoldTime` is over when that is: its caller was told before, and the server has let it go. */
export function judgeLimits(reading: Reading): Violation[] {
  const limited = reading.holds.filter(({ call }) => call.limit !== undefined)
  return [...toldLate(reading, limited), ...keptLong(reading, limited)]
}

/** Nobody is inside after the limit who was not told. The limit counts from the grant, which is before its answer. */
function toldLate(reading: Reading, holds: readonly Hold[]): Violation[] {
  const violations: Violation[] = []
  for (const { call, owner, enteredAt, leftAt, suspendedAt } of holds) {
    if (suspendedAt !== undefined) continue
    const over = endOf(reading, call.limit!, enteredAt)
    const left = leftAt === undefined ? reading.lastTime : reading.timeOf(leftAt)
    if (left <= over) continue
    violations.push({
      ...{ rule: 'limit', at: over, name: call.object.name, events: [enteredAt] },
      what: `${owner} was inside ${call.object.name} ${ms(left - over)} after its maxHoldTime of ${call.limit} ms, and was not told`,
    })
  }
  return violations
}

/** No lease ends later than the limit, also where its client was killed or stands still. */
function keptLong(reading: Reading, holds: readonly Hold[]): Violation[] {
  const violations: Violation[] = []
  const { latency } = reading.history.limits
  for (const hold of holds) {
    const { call, owner, enteredAt, fields, calledAt } = hold
    const { name, kind } = call.object
    // A reader stays in the hash for as long as others read.
    if (kind === 'read' || kind === 'write') continue
    const over = endOf(reading, call.limit!, enteredAt) + 2 * latency
    if (reading.lastTime <= over) continue
    // A command that waits for a connection or a server takes effect later, and its lease counts from then.
    if (reading.faults.excuses('delay', { name }, reading.timeOf(calledAt), over)) continue
    if (reading.faults.excuses('data', { name }, reading.timeOf(calledAt), over)) continue
    const had = (reading.keys.get(name) ?? []).filter(({ event }) => event.at <= over).at(-1)
    const field = had?.event.owners.find((each) => fields.includes(each))
    if (field === undefined) continue
    violations.push({
      ...{ rule: 'limit', at: over, name, events: [enteredAt, had!.index] },
      what: `the server still had ${owner} on ${name} when its maxHoldTime of ${call.limit} ms was over`,
    })
  }
  return violations
}

const endOf = (reading: Reading, limit: number, enteredAt: number): number =>
  reading.timeOf(enteredAt) + limit * (1 + reading.history.limits.drift)
