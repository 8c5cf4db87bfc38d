import type { Operation, SimulatedObject, Time } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import type { Violation } from '../violation'

/** Permits are neither made nor lost: no more are in use than there are, and those free and in use are as many as were set. */
export function judgePermits(reading: Reading): Violation[] {
  const objects = reading.history.objects.filter(({ kind }) => kind === 'semaphore' || kind === 'permits')
  return objects.flatMap((object) => [
    ...[...inUse(reading, object), ...conserved(reading, object)],
    ...[...made(reading, object), ...lost(reading, object)],
  ])
}

/** What a semaphore was set to once, and up to where no fault makes its number unknown. */
function totalOf(
  reading: Reading,
  { name, kind }: SimulatedObject,
): { total: number; until: Time } | undefined {
  const others: readonly Operation[] = ['set', 'add', 'drain', 'delete']
  const sets = [...reading.calls.values()].filter(
    ({ called }) => called.object.name === name && others.includes(called.operation),
  )
  const [set] = sets
  if (kind !== 'semaphore' || !set || sets.length > 1 || set.called.operation !== 'set') return undefined
  // Java waits for no replica, so a failover may undo what it took.
  const fault = reading.faults.all.find(
    ({ excuses, names, rewinds }) =>
      (rewinds && reading.javaClients.size > 0) ||
      (excuses.includes('data') && (!names || names.includes(name))),
  )
  return { total: set.called.units ?? 1, until: fault?.at ?? Number.POSITIVE_INFINITY }
}

/** No permit is free on the server while a caller has it, so a request that took effect twice shows at once. */
function made(reading: Reading, object: SimulatedObject): Violation[] {
  const { name } = object
  const known = totalOf(reading, object)
  if (!known) return []
  const changes = reading.holds
    .filter(({ call }) => call.object.name === name)
    .flatMap(({ enteredAt, leftAt, ending, units }) => [
      { index: enteredAt, units },
      // The permits of a client that was killed stay out.
      ...(leftAt === undefined || ending === 'killed' ? [] : [{ index: leftAt, units: -units }]),
    ])
    .sort((a, b) => a.index - b.index)
  let [used, next] = [0, 0]
  for (const { event, index } of reading.keys.get(name) ?? []) {
    if (event.at >= known.until) break
    for (; next < changes.length && changes[next]!.index < index; next++) used += changes[next]!.units
    const { value = 0 } = event
    if (value + used <= known.total) continue
    const what = `${name} has ${value} permits free while callers have ${used}, where there are ${known.total}`
    return [{ rule: 'permits', at: event.at, name, what, events: [index] }]
  }
  return []
}

/** At the end all permits are free again, except for those of clients that were killed and of calls that an outage ended. */
function lost(reading: Reading, object: SimulatedObject): Violation[] {
  const { name } = object
  const known = totalOf(reading, object)
  const last = reading.keys.get(name)?.at(-1)
  const isRewound = reading.faults.all.some(({ rewinds }) => rewinds)
  if (!known || !reading.end || !last || isRewound || known.until < reading.lastTime) return []
  let unknown = 0
  for (const { called, returned, failed, hold } of reading.calls.values()) {
    if (called.object.name !== name || called.operation === 'look') continue
    const isLost = reading.killedAt.has(called.client) && (!returned || hold?.ending === 'killed')
    // A Java client sends nothing again.
    const isUnknown = failed && (failed.error.startsWith('REDIS') || reading.javaClients.has(called.client))
    if (isLost || isUnknown) unknown += called.units ?? 1
  }
  const { value = 0 } = last.event
  if (value + unknown >= known.total) return []
  const what = `${name} has ${value} permits free at the end, where there are ${known.total} and ${unknown} may be out`
  return [{ rule: 'permits', at: reading.lastTime, name, what, events: [last.index] }]
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
    const isUndone =
      reading.javaClients.size > 0 && reading.faults.all.some((fault) => fault.rewinds && fault.at <= at)
    if (isUndone || reading.faults.excuses('data', { name }, 0, at)) return []
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
