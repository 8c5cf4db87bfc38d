import type { CapacityResults } from '../results'
import type { Surroundings } from '../surroundings'
import { measureFullServer } from './full-server'
import { measureHeld } from './held-locks'
import { COHORT_BOUNDS, measureOneLock } from './one-lock'
import { measureOwnLocks } from './own-locks'
import { measureWaiters } from './waiters'

export interface PartToMeasure {
  readonly name: string
  readonly key: keyof CapacityResults
  /** The rows, and what else belongs to the part. */
  measure(around: Surroundings): Promise<{ readonly rows: readonly object[] }>
}

/** Those taken over a whole interval of renewals are due one by one, at least in the beginning. */
const BELOW_A_MILLION = [
  { locks: 1_000, spreadMs: 10_000 },
  { locks: 10_000, spreadMs: 10_000 },
  { locks: 100_000, spreadMs: 0 },
]

export const PARTS: readonly PartToMeasure[] = [
  {
    name: 'own-locks',
    key: 'ownLocks',
    measure: async (around) => ({ rows: await measureOwnLocks(around) }),
  },
  {
    name: 'full-server',
    key: 'fullServer',
    measure: async (around) => ({ rows: await measureFullServer(around) }),
  },
  {
    name: 'one-lock',
    key: 'oneLock',
    measure: async (around) => ({ rows: await measureOneLock(around), bounds: COHORT_BOUNDS }),
  },
  {
    name: 'waiters',
    key: 'waiters',
    measure: async (around) => ({ rows: await measureWaiters(around) }),
  },
  {
    name: 'held-locks',
    key: 'heldLocks',
    measure: async (around) => ({ rows: await measureHeld(around, BELOW_A_MILLION) }),
  },
  {
    name: 'million',
    key: 'million',
    measure: async (around) => ({ rows: await measureHeld(around, [{ locks: 1_000_000, spreadMs: 0 }]) }),
  },
]
