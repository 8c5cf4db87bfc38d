import type { KeyChanged, ObjectKind } from '../history'
import type { Call, Reading } from '../reading'
import type { Violation } from '../violation'

export const FAIR: readonly ObjectKind[] = ['fair', 'non-reentrant-fair']
/** Readers enter together, callers of a latch too, and unions have an order of their members instead. */
const WITHOUT_QUEUE: readonly ObjectKind[] = ['read', 'latch', 'multi', 'red', 'run-once']

/** Waiters of one process on one object are served first come, first served (guarantee 3). */
export function judgeLocalOrder(reading: Reading): Violation[] {
  const queues = new Map<string, Call[]>()
  for (const call of reading.calls.values()) {
    const { operation, wait, object, client } = call.called
    if (operation !== 'acquire' || wait === 0 || WITHOUT_QUEUE.includes(object.kind)) continue
    if (FAIR.includes(object.kind) || reading.javaClients.has(client)) continue
    // A re-entry never queues.
    if ((call.hold && call.hold.id !== call.called.id) || (call.returned?.level ?? 1) > 1) continue
    const key = `${client} ${object.kind} ${object.name}`
    const queue = queues.get(key)
    if (queue) queue.push(call)
    else queues.set(key, [call])
  }
  return [...queues.values()].flatMap((queue) => overtakenIn(reading, queue, 'local-order'))
}

/** Whoever asked for a fair lock so much earlier that its place was taken comes in first, whatever the queue on the server says. */
export function judgeArrivals(reading: Reading): Violation[] {
  const queues = new Map<string, Call[]>()
  for (const call of reading.calls.values()) {
    const { operation, wait, object, client } = call.called
    if (operation !== 'acquire' || wait === 0 || !FAIR.includes(object.kind)) continue
    if (reading.javaClients.has(client) || (call.hold && call.hold.id !== call.called.id)) continue
    const queue = queues.get(object.name)
    if (queue) queue.push(call)
    else queues.set(object.name, [call])
  }
  // A client that asks a server for the first time asks for its replicas before, and sends the script as a whole after.
  const gap = 8 * reading.history.limits.latency
  return [...queues.values()].flatMap((queue) => overtakenIn(reading, queue, 'fair-order', gap))
}

function overtakenIn(
  reading: Reading,
  queue: readonly Call[],
  rule: 'local-order' | 'fair-order',
  gap = 0,
): Violation[] {
  const violations: Violation[] = []
  let waiting: Call[] = []
  const byBegin = [...queue].sort((a, b) => a.begin - b.begin)
  // A re-entry that was answered as its client closed came into nothing new.
  const isClosed = ({ called, end }: Call) =>
    (reading.closedAt.get(called.client) ?? Number.POSITIVE_INFINITY) <= end!
  const entered = byBegin
    .filter((call) => call.returned?.ok && !isClosed(call))
    .sort((a, b) => a.end! - b.end!)
  let next = 0
  for (const call of entered) {
    for (; next < byBegin.length && byBegin[next]!.begin < call.end!; next++) waiting.push(byBegin[next]!)
    waiting = waiting.filter((other) => (other.end ?? Number.POSITIVE_INFINITY) >= call.end!)
    const [from, to] = [reading.timeOf(call.begin), reading.timeOf(call.end!)]
    const { client, object } = call.called
    const overtakable = askingBeside(reading, call, waiting)
    for (const other of waiting) {
      if (other.begin >= call.begin || !other.returned?.ok || other.end! <= call.end!) continue
      if (overtakable.has(other)) continue
      if (reading.timeOf(call.begin) - reading.timeOf(other.begin) < gap) continue
      if (reading.faults.excuses('order', { client, name: object.name }, from, to)) continue
      if (rule === 'fair-order' && isExcused(reading, other, other.begin, call.end!)) continue
      violations.push({
        ...{ rule, at: to, name: object.name, events: [other.begin, call.begin, call.end!] },
        what: `${client}/${call.called.caller} came into ${object.name} before ${other.called.caller}, which asked earlier`,
      })
      break
    }
  }
  return violations
}

/**
 * The waiters that may ask for permits while one behind them comes in. Waiters ask together for no more than is free, and permits
 * may be released between the try of the first and that of the next. While they ask, a caller may also pass permits on to the one
 * behind them that needs as many (docs/guides/semaphores.md).
 */
function askingBeside(reading: Reading, { called }: Call, waiting: readonly Call[]): Set<Call> {
  const { object, units = 1 } = called
  const asking = new Set<Call>()
  if (object.kind !== 'semaphore' && object.kind !== 'permits') return asking
  const free = Math.max(0, ...(reading.keys.get(object.name) ?? []).map(({ event }) => event.value ?? 0))
  let wanted = 0
  for (const other of waiting) {
    const { units: theirs = 1 } = other.called
    wanted += theirs
    const mayPass = object.kind === 'semaphore' && theirs === units && wanted <= Math.max(free, theirs)
    if (mayPass || wanted + units <= free) asking.add(other)
  }
  return asking
}

interface Place {
  readonly owner: string
  readonly number: number
  readonly from: number
  call: Call | undefined
}

/** A place in the queue of a fair lock is kept until its owner comes in or gives up, and none comes in before the places ahead. */
export function judgeFairPlaces(reading: Reading): Violation[] {
  const callOf = new Map<string, Call>()
  // A Java thread has one field for all its calls, so its places tell nothing of them.
  for (const call of reading.calls.values())
    for (const owner of reading.javaClients.has(call.called.client) ? [] : (call.returned?.owners ?? []))
      if (!callOf.has(owner)) callOf.set(owner, call)
  const names = reading.history.objects.filter(({ kind }) => FAIR.includes(kind)).map(({ name }) => name)
  return [...new Set(names)].flatMap((name) => judgeQueue(reading, name, callOf))
}

function judgeQueue(reading: Reading, name: string, callOf: ReadonlyMap<string, Call>): Violation[] {
  const violations: Violation[] = []
  const places = new Map<string, Place>()
  let [arrived, before] = [0, [] as readonly string[]]
  for (const { event, index } of reading.keys.get(name) ?? []) {
    const queue = event.queue ?? []
    for (const owner of queue)
      if (!places.has(owner))
        places.set(owner, { owner, number: arrived++, from: index, call: callOf.get(owner) })
    for (const owner of before) {
      const place = places.get(owner)
      if (queue.includes(owner) || !place) continue
      places.delete(owner)
      const came = event.owners.includes(owner)
      const violation = came
        ? overtook(reading, name, place, places, event, index)
        : lost(reading, name, place, index)
      if (violation) violations.push(violation)
    }
    before = queue
  }
  return violations
}

function lost(
  reading: Reading,
  name: string,
  { owner, from, call }: Place,
  index: number,
): Violation | undefined {
  // It came in later: so it had not given up, and the place was lost.
  if (!call?.end || call.end < index || isExcused(reading, call, from, index)) return undefined
  return {
    ...{ rule: 'lost-place', at: reading.timeOf(index), name, events: [call.begin, from, index, call.end] },
    what: `${call.called.client}/${call.called.caller} (${owner}) lost its place in the queue of ${name}`,
  }
}

function overtook(
  reading: Reading,
  name: string,
  place: Place,
  others: ReadonlyMap<string, Place>,
  event: KeyChanged,
  index: number,
): Violation | undefined {
  for (const other of others.values()) {
    const waits = other.number < place.number && event.queue?.includes(other.owner)
    if (!waits || !other.call || isExcused(reading, other.call, other.from, index)) continue
    return {
      ...{ rule: 'fair-order', at: event.at, name, events: [other.from, place.from, index] },
      what: `${place.owner} came into ${name} before ${other.owner}, whose place in the queue was ahead`,
    }
  }
  return undefined
}

function isExcused(reading: Reading, call: Call, fromIndex: number, toIndex: number): boolean {
  const { client, object } = call.called
  const [from, to] = [reading.timeOf(fromIndex), reading.timeOf(toIndex)]
  const touched = { client, name: object.name }
  const { faults } = reading
  const isTouched = (['order', 'data', 'delay'] as const).some((excuse) =>
    faults.excuses(excuse, touched, from, to),
  )
  return isTouched || !reading.ran(client, from, to)
}
