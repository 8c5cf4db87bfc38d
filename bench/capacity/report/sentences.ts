import type { CohortBounds } from '../parts/one-lock'
import type { OwnLocksRow } from '../parts/own-locks'
import type { CapacityResults } from '../results'
import { about, count, perCore } from './numbers'

export interface Extremes {
  /** Where each command travels alone, from many clients to a server that has no rest; and where many travel together. */
  readonly alone: number
  readonly together: number
}

/**
 * Sections a second that a core would do, in the load that makes the most of it and in that of many processes with one caller each.
 * One caller alone costs more a section, but a service with so little to do needs no plan.
 */
export function sectionsPerCore(rows: readonly OwnLocksRow[], side: 'serverCpu' | 'clientCpu'): Extremes {
  const rate = (row: OwnLocksRow) => perCore(row.sectionsPerSecond, row[side])
  const single = rows.filter(({ callers }) => callers === 1)
  const alone = single.reduce((most, row) => (row.processes > most.processes ? row : most))
  return { alone: rate(alone), together: Math.max(...rows.map(rate)) }
}

export function oneCore({ ownLocks, fullServer }: CapacityResults): string | undefined {
  if (!ownLocks) return undefined
  const { alone, together } = sectionsPerCore(ownLocks.rows, 'serverCpu')
  const busiest = Math.max(...ownLocks.rows.map(({ serverCpu }) => serverCpu))
  const estimated =
    `- **The server**: ${about(alone)} sections a second of a core where many processes send one command at a time, ` +
    `${about(together)} where busy clients send many. It was at most ${busiest.toFixed(2)} of a core busy in these runs, for ` +
    'the clients share the machine; the figures a core are the rate divided by that part.'
  const full = fullServer?.rows[0]
  if (!full) return estimated
  return [
    estimated,
    `- **Checked with a full core**: one sender with long pipelines of the same two scripts, which costs a client little, ` +
      `had the server busy for ${full.serverCpu.toFixed(2)} of a core with ${count(full.sectionsPerSecond)} sections a second, ` +
      `${about(perCore(full.sectionsPerSecond, full.serverCpu))} a core.`,
  ].join('\n')
}

/** Where waits begin to grow quickly. */
const FULL_ENOUGH = 0.7

export function fullPrimary(rows: readonly OwnLocksRow[]): string {
  const { alone, together } = sectionsPerCore(rows, 'serverCpu')
  return (
    `On the measured machine a primary has ${100 * FULL_ENOUGH} % of its core in use at ${about(FULL_ENOUGH * alone)} sections a ` +
    `second where many processes send one command at a time, and at ${about(FULL_ENOUGH * together)} where busy clients send many.`
  )
}

export function cohortBounds({ mostHandoffs, longestCohortMs }: CohortBounds): string {
  return (
    `As measured, a cohort has at most ${mostHandoffs} handoffs where other processes wait, and no handoff later than ` +
    `${longestCohortMs} ms after it began.`
  )
}
