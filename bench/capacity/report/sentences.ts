import type { OwnLocksRow } from '../parts/own-locks'
import { perCore } from './numbers'

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
