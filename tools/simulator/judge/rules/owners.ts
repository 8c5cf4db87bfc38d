import type { KeyChanged, Limits, SimulatedObject, Time } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'
import { awake } from './waiting'

type Fact = { readonly event: KeyChanged; readonly index: number }

/** For how long a key may have an owner that no caller is, with no fault: a release is sent again after half a second. */
const UNOWNED = 800
/** On a slow world a message may take the most of that. */
const unownedOf = ({ latency }: Limits) => Math.max(UNOWNED, 20 * latency)

/**
 * What the keys of locks say about their owners, whatever the callers were told: one owner at a time, none that comes back after the
 * server took it out, and none that no caller is, which waiters would wait for (guarantees 1, 4 and 6).
 */
export function judgeOwners(reading: Reading): Violation[] {
  const violations: Violation[] = []
  const fields = new Fields(reading)
  const { objects } = reading.history
  const alike = new Set(objects.filter(({ callersAreAlike }) => callersAreAlike).map(({ name }) => name))
  for (const [name, isShared] of locksOf(objects))
    for (const facts of byServer(reading.keys.get(name) ?? []))
      violations.push(
        ...together(name, isShared, facts),
        ...cameBack(reading, name, facts, fields),
        ...(alike.has(name) ? [] : unowned(reading, name, isShared, facts, fields)),
      )
  return [...violations, ...releasedByOthers(reading, fields), ...refused(reading)]
}

const RELEASE = /\/(release|handoff)$/

/** An `unlock()` of one caller took out the hold of another one that works. */
function releasedByOthers(reading: Reading, fields: Fields): Violation[] {
  const violations: Violation[] = []
  for (const [name, facts] of reading.keys) {
    let before: readonly string[] = []
    const takenAway = new Set<string>()
    for (const { event, index } of facts) {
      const { by: [script = '', ...words] = [] } = event
      const gone = before.filter((field) => !event.owners.includes(field))
      before = event.owners
      for (const field of gone) {
        if (!RELEASE.test(script)) takenAway.add(field)
        // A release also takes out readers whose lease is over.
        else if (words.includes(field)) {
          const hold = fields.holdsOf(field).find((each) => isInside(each, index))
          if (!hold || (hold.side === 'read' && !hasTooFew(reading, hold, event.owners, index, takenAway)))
            continue
          const what = `${hold.owner} (${field}) works in ${name}, and another caller released it`
          violations.push({ rule: 'owners', at: event.at, name, what, events: [hold.enteredAt, index] })
        }
      }
    }
  }
  return violations
}

function isInside({ enteredAt, leftAt, toldAt }: Hold, index: number): boolean {
  return enteredAt < index && (leftAt ?? index) >= index && (toldAt ?? index) >= index
}

/**
 * Fewer fields are left than readers of the client work. Readers without a thread are alike: where a hold was lost, any of them
 * may be the one that learns it from its `unlock()`. So it is after a DEL that the client has not noticed (docs/guides/ownership.md).
 */
function hasTooFew(
  reading: Reading,
  { call, fields }: Hold,
  owners: readonly string[],
  index: number,
  takenAway: ReadonlySet<string>,
): boolean {
  const { client } = call
  const own = reading.holds.filter((each) => each.call.client === client && each.side === 'read')
  const working = own.filter(({ enteredAt, leftAt }) => enteredAt < index && (leftAt ?? index) >= index)
  const lost = own.filter(
    ({ toldAt, fields }) =>
      (toldAt !== undefined && toldAt < index) || fields.some((each) => takenAway.has(each)),
  )
  const learnt = [...reading.calls.values()].filter(
    ({ called, failed, end }) =>
      called.client === client && failed?.error === 'LOCK_LOST' && (end ?? index) < index,
  )
  const left = owners.filter((field) => clientIdOf(field) === clientIdOf(fields[0]!)).length
  return working.length - Math.max(0, lost.length - learnt.length) > left
}

/** A second copy of a request is answered as the first one: otherwise its caller waits for itself. */
function refused({ history }: Reading): Violation[] {
  const violations: Violation[] = []
  for (const [index, event] of history.events.entries()) {
    if (event.type !== 'own-refused') continue
    const { at, name, owner } = event
    const what = `${name} was refused to ${owner}, which has it: it waits for its own first copy`
    violations.push({ rule: 'owners', at, name, what, events: [index] })
  }
  return violations
}

/** Each name that locks have, and whether readers share it. */
function locksOf(objects: readonly SimulatedObject[]): Map<string, boolean> {
  const locks = new Map<string, boolean>()
  for (const { kind, name, members, isHeldUnseen } of objects)
    if (isHeldUnseen) continue
    else if (members) for (const [each, isShared] of locksOf(members)) locks.set(each, isShared)
    else if (
      kind !== 'semaphore' &&
      kind !== 'permits' &&
      kind !== 'latch' &&
      kind !== 'rate-limiter' &&
      kind !== 'run-once'
    )
      locks.set(name, kind === 'read' || kind === 'write')
  return locks
}

function byServer(facts: readonly Fact[]): Iterable<readonly Fact[]> {
  const groups = new Map<string | undefined, Fact[]>()
  for (const fact of facts) {
    const group = groups.get(fact.event.server)
    if (group) group.push(fact)
    else groups.set(fact.event.server, [fact])
  }
  return groups.values()
}

/** Which holds had a field, and which client. */
class Fields {
  private readonly holds = new Map<string, Hold[]>()
  private readonly clients = new Map<string, string>()

  constructor({ holds, calls }: Reading) {
    for (const hold of holds)
      for (const field of hold.fields) {
        const others = this.holds.get(field)
        if (others) others.push(hold)
        else this.holds.set(field, [hold])
      }
    for (const { called, returned } of calls.values())
      for (const field of returned?.owners ?? []) this.clients.set(clientIdOf(field), called.client)
  }

  holdsOf(field: string): readonly Hold[] {
    return this.holds.get(field) ?? []
  }

  clientOf(field: string): string | undefined {
    return this.clients.get(clientIdOf(field))
  }
}

function clientIdOf(field: string): string {
  const end = field.indexOf(':')
  return end < 0 ? field : field.slice(0, end)
}

function together(name: string, isShared: boolean, facts: readonly Fact[]): Violation[] {
  for (const { event, index } of facts) {
    const owners = isShared ? event.owners.filter((owner) => owner.endsWith(':write')) : event.owners
    if (owners.length < 2) continue
    const what = `${name} has the owners ${owners.join(' and ')} at once`
    return [{ rule: 'owners', at: event.at, name, what, events: [index] }]
  }
  return []
}

/** A renewal made a hold again that the server had taken out. */
function cameBack(reading: Reading, name: string, facts: readonly Fact[], fields: Fields): Violation[] {
  const goneAt = new Map<string, Time>()
  let before: readonly string[] = []
  for (const { event, index } of facts) {
    for (const field of before) if (!event.owners.includes(field)) goneAt.set(field, event.at)
    for (const field of event.owners) {
      const gone = goneAt.get(field)
      goneAt.delete(field)
      if (gone === undefined) continue
      const hold = fields
        .holdsOf(field)
        .find(({ enteredAt, leftAt }) => enteredAt < index && (leftAt === undefined || leftAt > index))
      if (!hold || isAcquiring(reading, hold, index) || hasNewServer(reading, gone, event.at)) continue
      const what = `${hold.owner} (${field}) has ${name} again ${ms(event.at - gone)} after it was taken out, and did not ask for it`
      return [{ rule: 'owners', at: event.at, name, what, events: [hold.enteredAt, index] }]
    }
    before = event.owners
  }
  return []
}

function isAcquiring({ calls }: Reading, { call }: Hold, index: number): boolean {
  for (const { called, begin, end } of calls.values())
    if (
      called.operation === 'acquire' &&
      called.client === call.client &&
      called.caller === call.caller &&
      begin < index &&
      (end ?? index) >= index
    )
      return true
  return false
}

/**
 * A failover brought back what was released. The field of a reader stays until all readers have left. It keeps no writer out for
 * longer than its own lease.
 */
function isUndone(reading: Reading, index: number): boolean {
  const at = reading.timeOf(index)
  return hasNewServer(reading, at, at)
}

const hasNewServer = ({ faults }: Reading, from: Time, to: Time) =>
  faults.all.some(({ rewinds, at }) => rewinds && at >= from && at <= to)

/** A caller waits for its own first copy, or others wait for what a caller gave up or released. */
function unowned(
  reading: Reading,
  name: string,
  isShared: boolean,
  facts: readonly Fact[],
  fields: Fields,
): Violation[] {
  const since = new Map<string, number>()
  const violations: Violation[] = []
  const judge = (field: string, from: number, to: number) => {
    if (isShared && isUndone(reading, from)) return
    const found = longestUnowned(reading, name, field, from, to, fields)
    if (!found) return
    const what = `${name} has the owner ${field} for ${ms(found.to - found.from)}, and no caller holds it`
    violations.push({ rule: 'owners', at: found.to, name, what, events: [from, to] })
  }
  for (const { event, index } of facts) {
    for (const [field, from] of since)
      if (!event.owners.includes(field)) {
        since.delete(field)
        judge(field, from, index)
      }
    for (const field of event.owners) if (!since.has(field)) since.set(field, index)
  }
  for (const [field, from] of since) judge(field, from, reading.history.events.length - 1)
  return violations
}

function longestUnowned(
  reading: Reading,
  name: string,
  field: string,
  fromIndex: number,
  toIndex: number,
  fields: Fields,
): { from: Time; to: Time } | undefined {
  const client = fields.clientOf(field)
  if (client === undefined || reading.javaClients.has(client)) return undefined
  // A hold of several members does not say what its owner is on each of them.
  const isMember = reading.history.objects.some(({ members }) => members?.some((each) => each.name === name))
  if (isMember && fields.holdsOf(field).length === 0) return undefined
  const ended = Math.min(
    ...[reading.killedAt.get(client), reading.closedAt.get(client), toIndex].filter((at) => at !== undefined),
  )
  let from = fromIndex
  const spans: [number, number][] = []
  for (const hold of fields.holdsOf(field)) {
    if (hold.enteredAt >= ended || lastOf(hold) <= fromIndex) continue
    spans.push([from, hold.enteredAt])
    from = lastOf(hold)
  }
  spans.push([from, ended])
  const most = unownedOf(reading.history.limits)
  for (const [begin, end] of spans) {
    if (end <= begin) continue
    const span = { from: reading.timeOf(begin), to: reading.timeOf(end) }
    if (span.to - span.from <= most) continue
    for (const quiet of awake(reading, client, span))
      if (reading.faults.longestQuiet('delay', { client, name }, quiet.from, quiet.to) > most) return quiet
  }
  return undefined
}

/** What was told ends on the server with its lease; so does a lease, or a limit, that its release finds over, as after a clock step. */
function lastOf({ call, ending, releasedAt = 0, toldAt = 0, leftAt }: Hold): number {
  if (leftAt === undefined || ending !== 'released') return Number.POSITIVE_INFINITY
  if ((call.lease ?? call.limit) !== undefined && releasedAt <= leftAt) return Number.POSITIVE_INFINITY
  // As above, the releases of inner levels are earlier.
  const last = Math.max(releasedAt, toldAt)
  return last > leftAt ? last : Number.POSITIVE_INFINITY
}
