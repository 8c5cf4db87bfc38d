import type { SimulatedObject } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import type { Violation } from '../violation'

/** Permits are neither made nor lost: no more are in use than there are, and those free and in use are as many as were set. */
export function judgePermits(reading: Reading): Violation[] {
  const objects = reading.history.objects.filter(({ kind }) => kind === 'semaphore' || kind === 'permits')
  return objects.flatMap((object) => [...inUse(reading, object), ...conserved(reading, object)])
}

function inUse(reading: Reading, { name }: SimulatedObject): Violation[] {
  const changes: { readonly index: number; readonly units: number; readonly hold?: Hold }[] = []
  for (const hold of reading.holds) {
    if (hold.call.object.name !== name) continue
    changes.push({ index: hold.enteredAt, units: hold.units, hold })
    // What a suspended client has is over at an unknown time.
    const left = hold.suspendedAt ?? hold.leftAt
    if (left !== undefined) changes.push({ index: Math.max(left, hold.enteredAt), units: -hold.units })
  }
  let total = 0
  let used = 0
  for (const { called, returned, begin, failed } of reading.calls.values())
    if (called.object.name === name && !failed && returned?.ok !== false) {
      if (called.operation === 'set') total = Math.max(total, called.units ?? 1)
      if (called.operation === 'add') changes.push({ index: begin, units: -(called.units ?? 1) })
    }
  if (total === 0) return []
  for (const { index, units, hold } of changes.sort((a, b) => a.index - b.index)) {
    used += units
    if (!hold || used <= total) continue
    const at = reading.timeOf(index)
    if (reading.faults.excuses('data', { name }, 0, at)) return []
    return [
      {
        ...{ rule: 'permits', at, name, events: [hold.calledAt, index] },
        what: `${hold.owner} has ${hold.units} of ${name}, so ${used} are in use where there are ${total}`,
      },
    ]
  }
  return []
}

/** Each permit of an expirable semaphore is free or out at any time: the server's facts say so after every command. */
function conserved(reading: Reading, { name, kind }: SimulatedObject): Violation[] {
  const sets = [...reading.calls.values()].filter(
    ({ called }) => called.object.name === name && (called.operation === 'set' || called.operation === 'add'),
  )
  const isSetOnce = sets.length === 1 && sets[0]!.called.operation === 'set'
  if (kind !== 'permits' || !isSetOnce) return []
  const total = sets[0]!.called.units ?? 1
  for (const { event, index } of reading.keys.get(name) ?? []) {
    if (event.value === undefined || event.value + event.owners.length === total) continue
    if (reading.faults.excuses('data', { name }, 0, event.at)) return []
    return [
      {
        ...{ rule: 'permits', at: event.at, name, events: [index] },
        what: `${name} has ${event.value} permits free and ${event.owners.length} out, where there are ${total}`,
      },
    ]
  }
  return []
}
