import type { FaultKind } from '../plan/catalogue'
import type { Disturbance, Disturbances } from './disturbances'
import { isJava, type Section } from './sections'

/** Two sections that exclude each other, the second begun while the first had not ended. */
export interface Overlap {
  readonly first: Section
  readonly second: Section
}

/**
 * - `told`: the first knew in time
 * - `open`: it cannot be said yet
 * - `paused`: its process stood still meanwhile; it looked when it woke, and did nothing more
 * - `data-lost`: the server came back without its data, which no lock on Redis survives
 * - `not-replicated`: a failover forgot what was not replicated yet
 * - `java`: a Java holder, which nobody tells
 * - `violation`: none of that excuses it
 */
export type OverlapVerdict =
  | 'told'
  | 'open'
  | 'paused'
  | 'data-lost'
  | 'not-replicated'
  | 'java'
  | 'violation'

export const PAUSES: readonly FaultKind[] = ['stop-worker', 'block-loop']
const FAILOVERS: readonly FaultKind[] = ['failover', 'kill-primary']

export function judge({ first, second }: Overlap, disturbances: Disturbances): OverlapVerdict {
  if (first.lostAt !== undefined && first.lostAt < second.inAt) return 'told'
  if (first.lostAt === undefined && first.outAt === undefined && first.killedAt === undefined) return 'open'
  const causes = disturbances.touching(first.worker, first.inAt, second.inAt)
  if (causes.some(({ kind }) => kind === 'restart-empty')) return 'data-lost'
  if (pauseOver({ first, second }, causes) && first.lostAt !== undefined && !first.wrote) return 'paused'
  if (isJava(first.worker) && causes.length > 0) return 'java'
  if (causes.some(({ kind }) => FAILOVERS.includes(kind))) return 'not-replicated'
  return 'violation'
}

/** The pause of the first one's process during which the second came in. */
export function pauseOver({ second }: Overlap, causes: readonly Disturbance[]): Disturbance | undefined {
  return causes.find(
    ({ kind, from, to }) => PAUSES.includes(kind) && from <= second.inAt && second.inAt <= to + 1_000_000,
  )
}
