import { endOf } from '../faults'
import type { FaultInjected, ObjectKind, SimulatedObject } from '../history'
import type { Reading } from '../reading'
import type { Violation } from '../violation'
import { linearize, TooConcurrent } from './linearize'
import { operationsByName } from './operations'
import {
  fencedMutex,
  latch,
  mutex,
  permits,
  readWrite,
  reentrantMutex,
  type SequentialOperation,
  type Specification,
} from './specification'

const COUNTERS = ['semaphore', 'permits', 'latch']

/**
 * Leaves out what a fault excuses. A hold that the server forgot, or that was taken out by force, is left out as a whole: that
 * can only make a history easier to explain. What a counter has after such a fault is unknown, so its history ends there.
 */
export function undisturbed(
  reading: Reading,
  name: string,
  operations: readonly SequentialOperation[],
): readonly SequentialOperation[] {
  const faults = reading.faults.all.filter(
    ({ excuses, names }) =>
      (excuses.includes('data') || excuses.includes('force')) && (!names || names.includes(name)),
  )
  const forced = [...reading.calls.values()].filter(
    ({ called }) => called.operation === 'force-release' && called.object.name === name,
  )
  const kind = reading.history.objects.find((object) => object.name === name)?.kind
  const undone = reading.faults.all.filter(({ rewinds }) => rewinds)
  if (kind && COUNTERS.includes(kind)) {
    const isLatch = kind === 'latch'
    // Java waits for no replica with its acquisitions either.
    const mayBeUndone = isLatch || reading.javaClients.size > 0
    const first = firstOf(mayBeUndone ? [...faults, ...undone] : faults)
    // Only acquisitions wait for a replica. A failover may undo all that a latch was told, and releases of permits, which makes
    // fewer of them: an answer that counts them may differ then.
    const counted = firstOf(undone)
    const known = operations.filter(
      ({ action, end }) => action.kind !== 'look' || reading.timeOf(end) < counted,
    )
    return until(reading, known, first)
  }
  if (faults.length === 0 && forced.length === 0 && undone.length === 0)
    return [...operations, ...lossesOf(reading)]
  const touched = new Set<number>()
  for (const hold of reading.holds) {
    if (!hold.keys.includes(name)) continue
    const from = reading.timeOf(hold.calledAt)
    const last = Math.max(hold.releasedAt ?? 0, hold.toldAt ?? 0, hold.leftAt ?? 0)
    const to = last === 0 || hold.ending === 'killed' ? Number.POSITIVE_INFINITY : reading.timeOf(last)
    const isTouched =
      faults.some((fault) => overlaps(fault, from, to)) ||
      reading.mayMissRenewal(hold, from, to) ||
      forced.some(({ begin, end }) => {
        const endsAt = end === undefined ? Number.POSITIVE_INFINITY : reading.timeOf(end)
        return reading.timeOf(begin) <= to && endsAt >= from
      })
    if (isTouched) touched.add(hold.id)
  }
  const untouched = operations.filter(({ id }) => !touched.has(reading.calls.get(id)?.hold?.id ?? -1))
  return [...untouched, ...lossesOf(reading)]
}

/** A server without its keys counts tokens anew. So may a replica with those that Java drew, which waits for no replica. */
function lossesOf({ history, javaClients }: Reading): SequentialOperation[] {
  const losses: SequentialOperation[] = []
  for (const [index, event] of history.events.entries()) {
    if (event.type !== 'fault') continue
    const isUndone = event.rewinds && javaClients.size > 0
    const kind = event.forgets ? 'forget' : isUndone ? 'forget tokens' : undefined
    if (kind) losses.push({ id: 0, action: { kind, owner: '', units: 1 }, begin: index, end: index })
  }
  return losses
}

const firstOf = (faults: readonly FaultInjected[]) => Math.min(...faults.map(({ at }) => at))

const overlaps = (fault: FaultInjected, from: number, to: number) => fault.at <= to && endOf(fault) >= from

function until(reading: Reading, operations: readonly SequentialOperation[], time: number) {
  return operations.flatMap((operation) => {
    if (reading.timeOf(operation.begin) >= time) return []
    const isOver = operation.end !== Number.POSITIVE_INFINITY && reading.timeOf(operation.end) < time
    if (isOver) return [operation]
    const { action } = operation
    // Its answer may be that of a second copy, which came after that time.
    const answer = ['acquire', 'await'].includes(action.kind) ? {} : { ok: undefined, value: undefined }
    return [{ ...operation, action: { ...action, ...answer }, end: Number.POSITIVE_INFINITY }]
  })
}

const erased = <State>(specification: Specification<State>) =>
  specification as unknown as Specification<unknown>

const [counting, single, fenced] = [erased(reentrantMutex), erased(mutex), erased(fencedMutex)]
const [sides, permitted, counted] = [erased(readWrite), erased(permits), erased(latch)]

const SPECIFICATIONS: Readonly<
  Record<Exclude<ObjectKind, 'multi' | 'rate-limiter'>, Specification<unknown>>
> = {
  ...{ lock: counting, fair: counting, spin: counting, red: counting, fenced },
  ...{ 'non-reentrant': single, 'non-reentrant-fair': single, token: single, 'run-once': single },
  ...{ read: sides, write: sides, semaphore: permitted, permits: permitted, latch: counted },
}

/** Of a semaphore and a latch alone: what became of a lease is to be seen only where each change of a key is. */
export const checkCounters = (reading: Reading): Violation[] =>
  checkSequentially(reading, ({ kind }) => kind === 'semaphore' || kind === 'latch')

/** The second look: each name by itself against the specification of its kind. */
export function checkSequentially(
  reading: Reading,
  isChecked: (object: SimulatedObject) => boolean = () => true,
): Violation[] {
  const specifications = specificationsOf(reading.history.objects.filter(isChecked))
  const violations: Violation[] = []
  for (const [name, operations] of operationsByName(reading)) {
    const specification = specifications.get(name)
    if (!specification) continue
    const violation = checkName(reading, name, specification, undisturbed(reading, name, operations))
    if (violation) violations.push(violation)
  }
  return violations
}

function checkName(
  reading: Reading,
  name: string,
  specification: Specification<unknown>,
  operations: readonly SequentialOperation[],
): Violation | undefined {
  try {
    const failure = linearize(specification, operations)
    if (!failure) return undefined
    const { operation, states, concurrent } = failure
    const { action, end, begin } = operation
    const others = concurrent.map((other) => describe(other)).join(', ')
    return {
      ...{ rule: 'not-linearizable', at: reading.timeOf(end), name, events: [begin, end] },
      what:
        `no order explains ${describe(operation)}${answer(action.value)}: ${name} could only be [${states.join('] or [')}]` +
        (others === '' ? '' : `; under way: ${others}`),
    }
  } catch (error) {
    // The invariants have judged it already.
    if (error instanceof TooConcurrent) return undefined
    throw error
  }
}

const describe = ({ action: { kind, owner, side, units, token } }: SequentialOperation) =>
  [owner, kind, side, units === 1 ? '' : units, token === undefined ? '' : `token ${token}`]
    .filter((word) => word !== '' && word !== undefined)
    .join(' ')
const answer = (value: number | undefined) => (value === undefined ? '' : ` → ${value}`)

/** A name with several kinds of locks has the rules that all of them keep. */
function specificationsOf(objects: readonly SimulatedObject[]): Map<string, Specification<unknown>> {
  const found = new Map<string, Specification<unknown>>()
  const add = (object: SimulatedObject) => {
    // Which caller released which hold is not to be seen.
    if (object.callersAreAlike) return
    if (object.kind === 'multi') return object.members?.forEach(add)
    // What it answers depends on the time.
    if (object.kind === 'rate-limiter') return
    const own = SPECIFICATIONS[object.kind]
    const before = found.get(object.name)
    // What holds for all of them.
    if (before === undefined || own === counting) found.set(object.name, own)
  }
  objects.forEach(add)
  return found
}
