import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import { LatchCaller, type LatchRole } from './latch'
import { MultiCaller } from './multi'
import { PermitsCaller, SemaphoreCaller } from './permits'
import type { Generation } from './turns'

interface Runs {
  run(): Promise<void>
}

/** The callers of a worker of all that is no lock on one key. */
export function callersOfObjects(
  objects: readonly ObjectPlan[],
  around: Surroundings,
  generation: Generation,
  seed: number,
): Runs[] {
  return objects.flatMap((plan, at) => callersOf(plan, around, generation, seed + 1_000 * (100 + at)))
}

function callersOf(plan: ObjectPlan, around: Surroundings, generation: Generation, seed: number): Runs[] {
  const name = (i: number) => `${plan.name}/${i + 1}`
  const seedOf = (i: number) => seed + 7 * i
  switch (plan.kind) {
    case 'multi':
      return plan.groups.map((group, i) => new MultiCaller(around, name(i), plan, group, seedOf(i)))
    case 'semaphore':
      return many(plan.callers, (i) => new SemaphoreCaller(around, name(i), plan, generation, seedOf(i)))
    case 'permits':
      return many(plan.callers, (i) => new PermitsCaller(around, name(i), plan, generation, seedOf(i)))
    case 'latch': {
      const roles: LatchRole[] = [
        'sets',
        ...Array<LatchRole>(plan.counters).fill('counts'),
        ...Array<LatchRole>(plan.waiters).fill('awaits'),
      ]
      return roles.map((role, i) => new LatchCaller(around, name(i), plan, role, generation, seedOf(i)))
    }
  }
}

const many = (count: number, make: (at: number) => Runs): Runs[] =>
  Array.from({ length: count }, (_, at) => make(at))
