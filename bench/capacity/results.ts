import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Machine } from '../driver/machine'
import { resultText } from '../report/result-text'
import type { FullServerRow } from './parts/full-server'
import type { HeldRow } from './parts/held-locks'
import type { CohortBounds, OneLockRow } from './parts/one-lock'
import type { OwnLocksRow } from './parts/own-locks'
import type { WaitersRow } from './parts/waiters'

/** One part of a run: each may be measured again without the others. */
export interface Part<Row> {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

export interface CapacityResults {
  readonly ownLocks?: Part<OwnLocksRow>
  readonly fullServer?: Part<FullServerRow>
  readonly oneLock?: Part<OneLockRow> & { readonly bounds: CohortBounds }
  readonly waiters?: Part<WaitersRow>
  readonly heldLocks?: Part<HeldRow>
  readonly million?: Part<HeldRow>
}

/** Empty where nothing was measured yet. */
export function readResults(file: string): CapacityResults {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CapacityResults) : {}
}

export function writeResults(file: string, results: CapacityResults): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, resultText(results))
}
