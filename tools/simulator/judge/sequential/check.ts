import type { ObjectKind, SimulatedObject } from '../history'
import type { Reading } from '../reading'
import type { Violation } from '../violation'
import { latch, permits } from './counters'
import { linearize, TooConcurrent } from './linearize'
import { fencedMutex, mutex, reentrantMutex } from './locks'
import { operationsByName } from './operations'
import { readWrite } from './read-write'
import type { SequentialOperation, Specification } from './specification'
import { undisturbed } from './undisturbed'

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

/** The second look: each name by itself against the specification of its kind. */
export function checkSequentially(reading: Reading): Violation[] {
  const specifications = specificationsOf(reading)
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
function specificationsOf({ history }: Reading): Map<string, Specification<unknown>> {
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
  history.objects.forEach(add)
  return found
}
