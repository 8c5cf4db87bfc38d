import { excludes, type Hold, neverInside } from '../holds'
import type { Call, Reading } from '../reading'
import { ms, type Violation } from '../violation'

/** Two owners that exclude each other and were inside together. */
export interface Overlap {
  readonly first: Hold
  readonly second: Hold
  readonly key: string
  /** Where it showed. */
  readonly index: number
  /** Why it is no violation. */
  readonly excuse: 'forgotten' | 'Java is not told' | 'stood still' | undefined
}

/** No owner is inside beside another one that was not told before. */
export function judgeExclusion(reading: Reading): Violation[] {
  return overlapsOf(reading).flatMap((each) => (each.excuse ? [] : describe(reading, each)))
}

/**
 * Exact: in virtual time no record comes late. A client that was suspended is judged by what it did: it may not act (it looks
 * first) after another owner has come in.
 */
export function overlapsOf(reading: Reading): Overlap[] {
  const inside = new Map<string, Set<Hold>>()
  const overlaps: Overlap[] = []
  /** Holds of suspended clients, and what came in beside them. */
  const beside = new Map<Hold, { readonly other: Hold; readonly key: string }>()
  for (const { index, hold, change } of changesOf(reading)) {
    if (change === 'act') {
      const met = beside.get(hold)
      const isInside = hold.leftAt === undefined || hold.leftAt >= index
      if (!met || !isInside) continue
      beside.delete(hold)
      if (reading.sleptUnseen(hold, index)) continue
      overlaps.push({ first: hold, second: met.other, key: met.key, index, excuse: undefined })
      continue
    }
    for (const key of hold.keys) {
      const holders = inside.get(key) ?? new Set<Hold>()
      inside.set(key, holders)
      if (change === 'leave') {
        holders.delete(hold)
        continue
      }
      for (const other of holders) {
        if (!excludes(other, hold, key)) continue
        const excuse = excuseOf(reading, other, hold, key, index)
        const isKept = excuse === 'forgotten' && isNeverTold(reading, other, hold)
        overlaps.push({ first: other, second: hold, key, index, excuse: isKept ? undefined : excuse })
        if (excuse !== 'stood still') continue
        if (wasSuspended(other, index)) beside.set(other, { other: hold, key })
        else beside.set(hold, { other, key })
      }
      holders.add(hold)
    }
  }
  return overlaps
}

interface Change {
  readonly index: number
  readonly hold: Hold
  readonly change: 'enter' | 'leave' | 'act'
}

function changesOf({ holds, acts }: Reading): Change[] {
  const changes: Change[] = []
  for (const hold of holds) {
    if (neverInside(hold)) continue
    changes.push({ index: hold.enteredAt, hold, change: 'enter' })
    if (hold.leftAt !== undefined) changes.push({ index: hold.leftAt, hold, change: 'leave' })
  }
  for (const { index, hold } of acts) changes.push({ index, hold, change: 'act' })
  return changes.sort((a, b) => a.index - b.index)
}

const wasSuspended = ({ suspendedAt }: Hold, index: number) =>
  suspendedAt !== undefined && suspendedAt <= index

function excuseOf(
  reading: Reading,
  first: Hold,
  second: Hold,
  key: string,
  index: number,
): Overlap['excuse'] {
  if (isForgotten(reading, first, second, key)) return 'forgotten'
  if (isTakenFromJava(reading, first, second, key)) return 'Java is not told'
  return wasSuspended(first, index) || wasSuspended(second, index) ? 'stood still' : undefined
}

/** Where each change of a key is known, its hold ends with the key. Else only a fault tells that it may be gone. */
function isTakenFromJava(reading: Reading, first: Hold, second: Hold, name: string): boolean {
  const { client } = first.call
  const [from, to] = [reading.timeOf(first.calledAt), reading.timeOf(second.enteredAt)]
  if (!reading.history.areKeysLookedAt || !reading.javaClients.has(client)) return false
  return reading.faults.excuses('loss', { client, name }, from, to)
}

/** The server forgot the first one, or it was taken out by force. */
function isForgotten(reading: Reading, first: Hold, second: Hold, key: string): boolean {
  const from = reading.timeOf(Math.min(first.calledAt, second.calledAt))
  const to = reading.timeOf(Math.max(first.enteredAt, second.enteredAt))
  const { faults } = reading
  return (
    faults.excuses('data', { name: key }, from, to) ||
    faults.excuses('force', { name: key }, from, to) ||
    reading.mayMissRenewal(first, from, to)
  )
}

/**
 * A renewal finds that the hold is gone, and without a renewal its lease ends. So also what a fault excuses is over when the
 * longest lease is, counted from the moment at which the second one came in.
 */
function isNeverTold(reading: Reading, first: Hold, second: Hold): boolean {
  const { watchdogTimeout, longestLease, latency } = reading.history.limits
  const until = reading.timeOf(second.enteredAt) + Math.max(watchdogTimeout, longestLease) + 10 * latency
  const isInsideAt = ({ leftAt }: Hold) =>
    (leftAt === undefined ? reading.lastTime : reading.timeOf(leftAt)) > until
  return first.suspendedAt === undefined && isInsideAt(first) && isInsideAt(second)
}

function describe(reading: Reading, { first, second, key, index }: Overlap): Violation {
  const at = reading.timeOf(index)
  const [came, since] = [second.enteredAt, reading.timeOf(second.enteredAt) - reading.timeOf(first.enteredAt)]
  const told = first.toldAt
  const when =
    told === undefined
      ? 'was never told'
      : `was told ${ms(reading.timeOf(told) - reading.timeOf(came))} later`
  const acted = index === came ? '' : ', and acted after it was resumed'
  return {
    ...{ rule: 'exclusion', at, name: key, events: [first.enteredAt, came, index] },
    what: `${second.owner} came into ${key} ${ms(since)} after ${first.owner}, which ${when}${acted}`,
  }
}

/** A client draws no token that is not greater than one that it has, whatever the server has forgotten (guarantee 4). */
function drawsAgain(before: Call, call: Call, reading: Reading): boolean {
  const { client } = call.called
  return client === before.called.client && !reading.javaClients.has(client) && before.end! < call.begin
}

/** The tokens of a fenced lock rise from one acquisition to the next, in the order in which callers come in. */
export function judgeTokens(reading: Reading): Violation[] {
  const last = new Map<string, Call>()
  const violations: Violation[] = []
  const calls = [...reading.calls.values()].filter(
    ({ returned, hold }) => returned?.token !== undefined && !(hold && neverInside(hold)),
  )
  for (const call of calls.sort((a, b) => a.end! - b.end!)) {
    const { name } = call.called.object
    const before = last.get(name)
    last.set(name, call)
    if (!before) continue
    const at = reading.timeOf(call.end!)
    if (call.returned!.token! > before.returned!.token!) continue
    // A client that is suspended comes in late with a token that the server drew long ago.
    const since = reading.timeOf(Math.min(before.begin, call.begin))
    // Java waits for no replica, so a failover may undo what it drew.
    const mayBeUndone = reading.javaClients.has(before.called.client)
    const isUndone = reading.faults.all.some(
      ({ forgets, rewinds, ...fault }) =>
        (forgets || (rewinds && mayBeUndone)) && (fault.until ?? fault.at) >= since && fault.at <= at,
    )
    // Others came in before the answer to the one that was taken out arrived.
    const isTaken = reading.faults.excuses('force', { name }, since, at)
    if ((isUndone || isTaken) && !drawsAgain(before, call, reading)) continue
    violations.push({
      ...{ rule: 'token', at, name, events: [before.end!, call.end!] },
      what:
        `${call.called.client}/${call.called.caller} came into ${name} with the token ${call.returned!.token} after ` +
        `${before.called.client}/${before.called.caller} with ${before.returned!.token}`,
    })
  }
  return violations
}
