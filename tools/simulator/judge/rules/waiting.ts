import type { Touched } from '../faults'
import type { Called, KeyChanged, ObjectKind, Time } from '../history'
import { type Side, sidesOf } from '../holds'
import type { Call, Reading } from '../reading'
import { ms, type Violation } from '../violation'
import { bound, FAIR_REFRESH } from './bounds'
import { FAIR } from './order'

/**
 * No waiter sleeps before a free object: while it is free for it on the server, with no fault that excuses a delay, its own
 * client awake, it or another waiter comes in within the bound of its object.
 */
export function judgeWaiting(reading: Reading): Violation[] {
  const violations: Violation[] = []
  for (const call of reading.calls.values()) {
    const { operation, object, wait } = call.called
    if (operation !== 'acquire' && operation !== 'await') continue
    // How fast a Java peer wakes is not judged here, and one try does not wait.
    if (reading.javaClients.has(call.called.client) || wait === 0 || object.kind === 'run-once') continue
    const asleep = longestBeforeFree(reading, call)
    if (!asleep) continue
    violations.push({
      ...{ rule: 'asleep', at: asleep.to, name: object.name, events: [call.begin] },
      what:
        `${call.called.client}/${call.called.caller} waits for ${object.name} (${object.kind}), which is free since ` +
        `${ms(asleep.to - asleep.from)}; ${ms(asleep.bound)} are its bound`,
    })
  }
  return violations
}

interface Asleep {
  readonly from: Time
  readonly to: Time
  readonly bound: number
}

function longestBeforeFree(reading: Reading, call: Call): Asleep | undefined {
  const { called, begin, end } = call
  const killed = reading.killedAt.get(called.client)
  const closed = reading.closedAt.get(called.client)
  const from = reading.timeOf(begin)
  const last = Math.min(
    ...[end, killed, closed].filter((index) => index !== undefined).map((index) => reading.timeOf(index)),
  )
  const to = Math.min(last, reading.lastTime)
  const most = bound(reading, called)
  if (to - from <= most) return undefined
  for (const open of freeTimes(reading, call, from, to)) {
    const free = { from: Math.max(open.from, heardAt(reading, call, open)), to: open.to }
    const late = most + lateAnswer(reading, called.client, free)
    if (free.to - free.from <= late) continue
    // Only the time that no fault and no absence excuses counts.
    for (const quiet of awake(reading, called.client, free)) {
      const touched = touchedBy(called)
      if (reading.faults.longestQuiet('delay', touched, quiet.from, quiet.to) > late)
        return { ...quiet, bound: late }
    }
  }
  return undefined
}

/** The first waiter of a latch looks again so late where no message wakes it (src/synchronizers/synchronizer.ts). */
const RECHECK = 30_000
/** They open a latch, and no client notices: nothing is published, and no connection breaks. */
const SILENT = ['FLUSHALL', 'DEL']

/** Until when a queue need not know that its latch is open. A queue that was empty meanwhile has looked. */
function heardAt(reading: Reading, { called, begin }: Call, open: Span): Time {
  const { kind, name } = called.object
  if (kind !== 'latch') return open.from
  const times = openTimes(reading, name, kind, 'permits', 1)
  const opened = times.find(({ from, to }) => from <= open.from && to > open.from)?.from
  const isSilent = reading.faults.all.some(
    (fault) => fault.at === opened && SILENT.includes(fault.kind) && (fault.names?.includes(name) ?? true),
  )
  if (opened === undefined || !isSilent) return open.from
  let waitsSince = reading.timeOf(begin)
  for (const other of [...reading.calls.values()].reverse()) {
    const { client, object, operation, wait } = other.called
    if (client !== called.client || object.name !== name || operation !== 'await' || wait === 0) continue
    const ended = other.end === undefined ? reading.lastTime : reading.timeOf(other.end)
    if (ended > waitsSince) waitsSince = Math.min(waitsSince, reading.timeOf(other.begin))
  }
  return waitsSince <= opened ? opened + RECHECK : open.from
}

/** A client that was suspended got the answer with the TTL so much later, and its waiters sleep for that TTL from then on. */
function lateAnswer(reading: Reading, client: string, free: Span): number {
  const { watchdogTimeout, longestLease } = reading.history.limits
  const from = free.from - 2 * Math.max(watchdogTimeout, longestLease)
  const absences = reading.absencesOf(client).filter((each) => each.from <= free.to && each.to >= from)
  return Math.max(0, ...absences.map((each) => Math.min(each.to, free.to) - each.from))
}

function touchedBy({ object: { kind, name, members = [] }, client }: Called): Touched {
  // A fair lock waits for the client at the head of its queue, whichever that is.
  if (kind === 'multi') return members.some((member) => FAIR.includes(member.kind)) ? {} : { client }
  return FAIR.includes(kind) ? { name } : { client, name }
}

/** Callers of one process are served in their order, so a large request blocks those behind it. */
function neededBy({ calls }: Reading, { called, begin }: Call): number {
  let needed = called.units ?? 1
  if (called.object.kind !== 'semaphore') return needed
  for (const other of calls.values()) {
    const { client, object, operation, units = 1 } = other.called
    const isAhead = other.begin < begin && (other.end ?? Number.POSITIVE_INFINITY) > begin
    if (isAhead && operation === 'acquire' && client === called.client && object.name === called.object.name)
      needed = Math.max(needed, units)
  }
  return needed
}

interface Span {
  readonly from: Time
  readonly to: Time
}

/** When all its names were free for it at once. */
function freeTimes(reading: Reading, call: Call, from: Time, to: Time): Span[] {
  const { called } = call
  const units = neededBy(reading, call)
  let spans: Span[] = [{ from, to }]
  for (const [name, side] of sidesOf(called.object)) {
    const own = openTimes(reading, name, called.object.kind, side, units)
    spans = spans.flatMap((span) => within(own, span))
  }
  return spans
}

/** By name, kind, side and units. Each waiter asks for them, and they need all that is known of the name. */
const known = new WeakMap<Reading, Map<string, readonly Span[]>>()

/** When a name was free for a waiter like this. */
function openTimes(
  reading: Reading,
  name: string,
  kind: ObjectKind,
  side: Side,
  units: number,
): readonly Span[] {
  const times = known.get(reading) ?? new Map<string, readonly Span[]>()
  known.set(reading, times)
  const key = `${name}|${kind}|${side}|${units}`
  let spans = times.get(key)
  if (!spans) {
    // A waiter behind the head read how long the place of the head lasts, and not the lease with which the head came in.
    const unread = FAIR.includes(kind) ? FAIR_REFRESH : 0
    const facts = reading.keys.get(name) ?? []
    spans = spansOf(facts, reading.lastTime, unread, (event) => isFree(event, kind, side, units))
    times.set(key, spans)
  }
  return spans
}

/** The parts of some spans that are in another one. They are in order, and none overlaps the next. */
function within(spans: readonly Span[], { from, to }: Span): Span[] {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.to > from) high = middle
    else low = middle + 1
  }
  const parts: Span[] = []
  for (let at = low; at < spans.length && spans[at]!.from < to; at++) {
    const span = spans[at]!
    const part = { from: Math.max(from, span.from), to: Math.min(to, span.to) }
    if (part.to > part.from) parts.push(part)
  }
  return parts
}

function spansOf(
  facts: readonly { readonly event: KeyChanged }[],
  to: Time,
  unread: number,
  isOpen: (event: KeyChanged) => boolean,
): Span[] {
  const spans: Span[] = []
  let since: Time | undefined
  for (const { event } of facts) {
    const isOpenNow = isOpen(event)
    if (isOpenNow) since ??= Math.max(event.at + (event.expired ? unread : 0), event.ttlSaid ?? 0)
    else if (since !== undefined) {
      if (since < event.at) spans.push({ from: since, to: event.at })
      since = undefined
    }
  }
  if (since !== undefined && since < to) spans.push({ from: since, to })
  return spans
}

/** Its client id is a UUID of version 4, and those of this package are of version 8. */
const OF_JAVA = /^[0-9a-f-]{14}4/

function isFree({ owners, value, queue }: KeyChanged, kind: ObjectKind, side: Side, units: number): boolean {
  // A fair lock waits for the thread at the head of its queue, which sleeps as Java does.
  if (queue?.[0] !== undefined && OF_JAVA.test(queue[0])) return false
  if (kind === 'latch') return (value ?? 0) <= 0
  // A permit comes back by time, and no change of a key shows when.
  if (kind === 'rate-limiter') return false
  if (side === 'permits') return (value ?? 0) >= units
  if (side === 'read') return !owners.some((owner) => owner.endsWith(':write'))
  return owners.length === 0
}

export function awake(reading: Reading, client: string, { from, to }: Span): Span[] {
  const spans: Span[] = []
  let since = from
  for (const absence of reading.absencesOf(client)) {
    if (absence.to < since || absence.from > to) continue
    if (absence.from > since) spans.push({ from: since, to: absence.from })
    since = Math.max(since, absence.to)
  }
  if (since < to) spans.push({ from: since, to })
  return spans
}
