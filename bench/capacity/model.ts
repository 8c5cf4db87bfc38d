// What docs/evidence/performance.md lets a team reckon with, as functions: its tables set them against what was measured.

import type { CohortBounds } from './parts/one-lock'

/** Defaults of `Redisson.create`. */
export const WATCHDOG_TIMEOUT_SECONDS = 30
export const WATCHDOG_BATCH = 100

/** Acquiring and releasing a lock that no other caller wants. */
export const COMMANDS_ALONE = 2

/** With a lock that is due go those due within this part of the time between two renewals. */
const AHEAD = 1 / 20

/** Each process that waits at all sends one every so often. */
export const SECONDS_BETWEEN_PINGS = 5

export interface Contention {
  readonly processes: number
  readonly callers: number
  /** From one section's beginning to the next one's. */
  readonly sectionMs: number
}

/** How many sections a process has before it lets the others have a cohort. */
export function sectionsPerCohort(
  { processes, callers, sectionMs }: Contention,
  bounds: CohortBounds,
): number {
  if (callers === 1) return 1
  const inTime = Math.max(1, Math.ceil(bounds.longestCohortMs / sectionMs))
  return processes === 1 ? inTime : Math.min(inTime, bounds.mostHandoffs + 1)
}

/**
 * Commands a section, given how many sections a cohort has. Each section is ended by one command, and each cohort begun by one;
 * besides, of the other processes that wait, none (at least) or each (at most) has tried in vain within a cohort.
 */
export function commandsPerSection(
  { processes, callers }: Pick<Contention, 'processes' | 'callers'>,
  perCohort: number,
): { readonly least: number; readonly most: number } {
  if (processes === 1 && callers === 1) return { least: COMMANDS_ALONE, most: COMMANDS_ALONE }
  return { least: 1 + 1 / perCohort, most: 1 + processes / perCohort }
}

/** A second, by all processes together. */
export function idleCommandsPerSecond(processes: number): number {
  return processes / SECONDS_BETWEEN_PINGS
}

/**
 * A second, by the process that holds so many: one a batch, at least where all batches are full. At most one more that is not
 * full comes each time when those due soon are taken along.
 */
export function renewalCommandsPerSecond(locks: number): { readonly least: number; readonly most: number } {
  const interval = WATCHDOG_TIMEOUT_SECONDS / 3
  const renewals = locks / interval
  const full = renewals / WATCHDOG_BATCH
  const scattered = Math.min(renewals, full + 1 / (AHEAD * interval))
  return { least: full, most: scattered }
}
