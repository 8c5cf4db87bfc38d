import type { Called, Operation } from '../history'
import { endsByLevel, type Hold, neverInside, ownerOf, sidesOf } from '../holds'
import type { Call, Reading } from '../reading'
import { FAIR } from '../rules/order'
import type { Action, SequentialOperation } from './specification'

const NEVER = Number.POSITIVE_INFINITY

/** What happened to each name, for the check against its specification. */
export function operationsByName(reading: Reading): Map<string, SequentialOperation[]> {
  const byName = new Map<string, SequentialOperation[]>()
  const add = (name: string, operation: SequentialOperation) => {
    const others = byName.get(name)
    if (others) others.push(operation)
    else byName.set(name, [operation])
  }
  for (const call of reading.calls.values()) {
    if (isEmptyRelease(reading, call)) continue
    for (const [name, side] of sidesOf(call.called.object)) {
      const ownSide = side === 'read' || side === 'write' ? side : undefined
      for (const operation of operationsOf(reading, call, ownSide)) add(name, operation)
    }
  }
  for (const hold of reading.holds)
    for (const [name, side] of sidesOf(hold.call.object)) {
      const ownSide = side === 'read' || side === 'write' ? side : undefined
      const operation = endOf(reading, hold, ownSide)
      if (operation) add(name, operation)
    }
  return byName
}

/** Java answers the release of a fair lock whose key is gone as if it had released it (PROTOCOL.md). */
function isEmptyRelease({ javaClients }: Reading, { called, hold, begin }: Call): boolean {
  if (called.operation !== 'release' || !javaClients.has(called.client)) return false
  return FAIR.includes(called.object.kind) && hold?.leftAt !== undefined && hold.leftAt < begin
}

const COUNTED: readonly Operation[] = ['set', 'add', 'drain', 'count-down', 'await', 'delete']

function operationsOf(reading: Reading, call: Call, side: Action['side']): SequentialOperation[] {
  const { called, returned, failed, begin, end } = call
  const { id, operation, units = 1 } = called
  const { token, value, ok } = returned ?? {}
  const kind = operation as Action['kind']
  const oneLevel = endsByLevel(called.object)
  const action: Action = { kind, owner: actorOf(call), side, units, ok, token, value, oneLevel }
  const isAnswered = returned !== undefined && end !== undefined
  if (operation === 'acquire') {
    if (isAnswered && ok) return [{ id, action, begin, end }]
    // One that is not answered may take permits that no release returns. Of a lock it explains nothing.
    const mayTake = called.object.kind === 'semaphore' && !isAnswered && (failed?.mayBeApplied ?? true)
    if (!mayTake) return []
    const abandoned = { owner: '', side, units }
    return (['abandon', 'give-back'] as const).map((each) => ({
      ...{ id, begin, end: NEVER },
      action: { ...abandoned, kind: each },
    }))
  }
  if (operation === 'release') {
    // A lease that ended unseen: after a broken connection a release that finds no hold takes it for its own first copy.
    const mayBeOver = call.hold && reading.sleptUnseen(call.hold, begin)
    if (isAnswered && !mayBeOver) return [{ id, action, begin, end }]
    // A client that was suspended inside may find only now that its lease ended meanwhile.
    const from = Math.min(begin, call.hold?.suspendedAt ?? begin)
    if (isAnswered) return [{ id, action: { ...action, kind: releasedLate(called) }, begin: from, end }]
    // What was told before has ended then.
    if (oneLevel && call.hold?.ending === 'told') return []
    // It ends the hold here, and takes effect when it can, or its lease does.
    if (!failed || failed.mayBeApplied)
      return [{ id, action: { ...action, kind: releasedLate(called) }, begin: from, end: NEVER }]
    // What was told before has ended then.
    const { side: of, ending, leftAt = NEVER } = call.hold ?? {}
    const isTold = (of === 'permits' && ending !== 'released') || (ending === 'told' && leftAt < begin)
    return isTold ? [] : [{ id, action: { ...action, kind: 'end' }, begin: from, end: end! }]
  }
  if (operation === 'look') return isAnswered && value !== undefined ? [{ id, action, begin, end }] : []
  if (!COUNTED.includes(operation)) return []
  if (isAnswered) return [{ id, action, begin, end }]
  const mayHappen = operation !== 'await' && (failed?.mayBeApplied ?? true)
  return mayHappen ? [{ id, action: { ...action, ok: undefined }, begin, end: NEVER }] : []
}

/** The owner of a release is the one whose hold it is, also where another caller releases it. */
function actorOf({ called, hold }: Call): string {
  return called.operation === 'release' && hold ? hold.owner : ownerOf(called)
}

const releasedLate = ({ object }: Called): Action['kind'] => (object.kind === 'semaphore' ? 'release' : 'end')

/** A hold that was lost, ran out, or died with its client. */
function endOf(reading: Reading, hold: Hold, side: Action['side']): SequentialOperation | undefined {
  const { id, owner, units, ending, leftAt, suspendedAt, call } = hold
  if (leftAt === undefined || ending === 'released') return undefined
  // Permits without a lease are gone with their owner.
  if (call.object.kind === 'semaphore') return undefined
  const action: Action = { kind: 'end', owner, side, units, oneLevel: endsByLevel(call.object) }
  if (neverInside(hold)) return { id, action, begin: hold.calledAt, end: leftAt }
  // The keys of a client that was killed, or has shut down, stay until their leases end, and one that shuts down may release
  // them yet. A suspended client learns of its end later.
  const hasShutDown = (reading.closedAt.get(call.client) ?? Number.POSITIVE_INFINITY) <= leftAt
  if (ending === 'killed' || hasShutDown) return { id, action, begin: suspendedAt ?? leftAt, end: NEVER }
  return { id, action, begin: suspendedAt ?? leftAt, end: leftAt }
}
