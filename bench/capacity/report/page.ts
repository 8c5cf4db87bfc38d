import type { CapacityResults } from '../results'
import { aboutRun } from './about-run'
import { inShort } from './in-short'
import { cohortBounds, fullPrimary, oneCore } from './sentences'
import {
  cohortsTable,
  heldRows,
  heldTable,
  oneLockTable,
  ownLocksTable,
  renewalTable,
  waitersTable,
} from './tables'

const NOT_MEASURED = 'Not measured yet.'

/** By the names that the page asks for. */
const CONTENTS: Readonly<Record<string, (results: CapacityResults) => string | undefined>> = {
  run: aboutRun,
  'in-short': inShort,
  'own-locks': ({ ownLocks }) => ownLocks && ownLocksTable(ownLocks.rows),
  'one-core': oneCore,
  'full-primary': ({ ownLocks }) => ownLocks && fullPrimary(ownLocks.rows),
  'one-lock': ({ oneLock }) => oneLock && oneLockTable(oneLock.rows),
  'cohort-bounds': ({ oneLock }) => oneLock && cohortBounds(oneLock.bounds),
  cohorts: ({ oneLock }) => oneLock && cohortsTable(oneLock.rows, oneLock.bounds),
  waiters: ({ waiters }) => waiters && waitersTable(waiters.rows),
  'held-locks': (results) => heldRows(results) && heldTable(heldRows(results)!),
  renewals: (results) => heldRows(results) && renewalTable(heldRows(results)!),
}

export function contentOf(results: CapacityResults, name: string): string {
  const content = CONTENTS[name]
  if (!content) throw new Error(`the page asks for ${name}, which no part provides`)
  return content(results) || NOT_MEASURED
}
