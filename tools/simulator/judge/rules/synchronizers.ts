import type { KeyChanged, Operation, SimulatedObject, Time } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

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

interface Request {
  readonly units: number
  readonly begin: number
  readonly end: number
  isUsed: boolean
}

/** Each change of a latch is that of one call in flight, and of no other one: none counts down twice. */
export function judgeLatches(reading: Reading): Violation[] {
  return reading.history.objects
    .filter(({ kind }) => kind === 'latch')
    .flatMap((object) => unexplained(reading, object))
}

function unexplained(reading: Reading, { name }: SimulatedObject): Violation[] {
  const broken = reading.faults.all.find(
    ({ excuses, names, rewinds }) =>
      rewinds || (excuses.includes('data') && (!names || names.includes(name))),
  )
  const brokenAt = broken?.at ?? Number.POSITIVE_INFINITY
  const downs = requests(reading, name, 'count-down', brokenAt)
  const sets = requests(reading, name, 'set', brokenAt)
  let before = 0
  for (const { event, index } of reading.keys.get(name) ?? []) {
    if (broken && event.at >= broken.at) break
    const value = event.value ?? 0
    const isSet = value > before
    const isExplained = isSet ? take(sets, index, value) : value === before || take(downs, index, 1)
    if (!isExplained) return [violation(name, event, index, before)]
    before = value
  }
  return []
}

function violation(name: string, { at, value = 0 }: KeyChanged, index: number, before: number): Violation {
  const what = `${name} went from ${before} to ${value}, and no call in flight that had not taken effect before asked for it`
  return { rule: 'latch', at, name, what, events: [index] }
}

function requests(
  { calls }: Reading,
  name: string,
  operation: 'count-down' | 'set',
  brokenAt: Time,
): Request[] {
  const found: Request[] = []
  for (const { called, begin, end, failed, returned } of calls.values()) {
    if (called.object.name !== name || called.operation !== operation) continue
    // A server that lost the record of a request answers a second copy as if it were the first: false may be the second answer.
    if (returned?.ok === false && returned.at < brokenAt) continue
    const isOver = end !== undefined && !failed?.mayBeApplied
    const last = isOver ? end : Number.POSITIVE_INFINITY
    found.push({ units: called.units ?? 1, begin, end: last, isUsed: false })
  }
  return found
}

/** Of those that may have done it the one that ends first: so the others stay for what comes later. */
function take(requests: readonly Request[], index: number, units: number): boolean {
  let first: Request | undefined
  for (const request of requests)
    if (!request.isUsed && request.units === units && request.begin < index && request.end > index)
      if (!first || request.end < first.end) first = request
  if (first) first.isUsed = true
  return first !== undefined
}

interface Grant {
  readonly permits: number
  /** By the clock of the server. */
  readonly at: number
  readonly rate: number
  readonly interval: number
  readonly granted: Time
}

/** The clock of the server was set between two grants that are further apart by one clock than by the other, in ms. */
const CLOCK_TOLERANCE = 5

/** A rate limiter grants no more permits than its rate in any interval, by the clock of the server. A cancelled grant does not count. */
export function judgeRates(reading: Reading): Violation[] {
  return reading.history.objects
    .filter(({ kind }) => kind === 'rate-limiter')
    .flatMap(({ name }) => judgeRate(reading, name))
}

function judgeRate(reading: Reading, name: string): Violation[] {
  const grants = new Map<string, Grant>()
  for (const { event, index } of reading.keys.get(name) ?? []) {
    const there = new Map(event.owners.map((owner) => readGrant(owner, event.at)))
    // An acquisition also sweeps the grants whose interval is over. What any other command takes away was cancelled or lost.
    if (event.by?.[0] !== 'rate-limiter/acquire')
      for (const id of grants.keys()) if (!there.has(id)) grants.delete(id)
    for (const [id, grant] of there) {
      if (grants.has(id)) continue
      grants.set(id, grant)
      const { at, rate, interval } = grant
      const within = [...grants.values()].filter(
        (each) =>
          Math.abs(each.at - at) < interval &&
          Math.abs(each.at - at - (each.granted - event.at)) <= CLOCK_TOLERANCE,
      )
      const taken = mostInOneInterval(within, interval)
      if (taken <= rate) continue
      const what = `${name} granted ${taken} permits within ${ms(interval)}, and its rate is ${rate}`
      return [{ rule: 'rate', at: event.at, name, what, events: [index] }]
    }
  }
  return []
}

function mostInOneInterval(grants: readonly Grant[], interval: number): number {
  const sums = grants.map(({ at: first }) =>
    grants
      .filter(({ at }) => at >= first && at < first + interval)
      .reduce((sum, { permits }) => sum + permits, 0),
  )
  return Math.max(0, ...sums)
}

/** As the watch of keys writes it. */
function readGrant(text: string, granted: Time): [id: string, grant: Grant] {
  const [id = '', permits, at, rate, interval] = text.split(' ')
  return [
    id,
    { permits: Number(permits), at: Number(at), rate: Number(rate), interval: Number(interval), granted },
  ]
}
