import type { OneLockRow } from '../parts/one-lock'
import type { CapacityResults } from '../results'
import { aboutRun } from './about-run'
import { inShort } from './in-short'
import { oneLockTable, ownLocksTable } from './tables'

/** What the page has no room for is on the screen. */
const isOnThePage = ({ holdMs, processes, callers }: OneLockRow) =>
  holdMs === 0
    ? callers > 1 || processes === 1 || processes === 8
    : holdMs === 5 && (processes === 1 || processes === 8)

const NOT_MEASURED = 'Not measured yet.'

/** By the names that the page asks for. */
const CONTENTS: Readonly<Record<string, (results: CapacityResults) => string | undefined>> = {
  'capacity-in-short': (results) => `${inShort(results)}\n\n${aboutRun(results)}`.trim(),
  'capacity-own-locks': ({ ownLocks }) =>
    ownLocks && ownLocksTable(ownLocks.rows.filter(({ processes }) => processes !== 2)),
  'capacity-one-lock': ({ oneLock }) => oneLock && oneLockTable(oneLock.rows.filter(isOnThePage)),
}

/** Undefined for the regions of other programs. */
export function contentOf(results: CapacityResults, name: string): string | undefined {
  const content = CONTENTS[name]
  return content && (content(results) || NOT_MEASURED)
}
