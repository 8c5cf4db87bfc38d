import type { FaultKind } from '../plan/catalogue'
import type { Disturbance, Disturbances } from './disturbances'
import { isJava, type Section } from './sections'

/** Two sections that exclude each other, the second begun while the first had not ended. */
export interface Overlap {
  readonly first: Section
  readonly second: Section
}

/**
 * - `reported`: the first knew in time
 * - `open`: it cannot be said yet
 * - `paused`: the process of one of them stood still meanwhile; it looked when it woke, and did nothing more
 * - `data-lost`: the server came back without its data, or the key was deleted, which no lock on Redis survives
 * - `not-replicated`: a failover forgot what was not replicated yet
 * - `java`: a Java holder, which gets no report
 * - `violation`: none of that excuses it
 */
export type OverlapVerdict =
  | 'reported'
  | 'open'
  | 'paused'
  | 'data-lost'
  | 'not-replicated'
  | 'java'
  | 'violation'

export const PAUSES: readonly FaultKind[] = ['stop-worker', 'block-loop']
const FAILOVERS: readonly FaultKind[] = ['failover', 'kill-primary']

/** The verdict, and the fault that is behind it. */
export function judge(
  { first, second }: Overlap,
  disturbances: Disturbances,
): { verdict: OverlapVerdict; cause: Disturbance | undefined } {
  const because = (verdict: OverlapVerdict, cause?: Disturbance) => ({ verdict, cause })
  if (first.lostAt !== undefined && first.lostAt < second.inAt) return because('reported')
  if (first.lostAt === undefined && first.outAt === undefined && first.killedAt === undefined)
    return because('open')
  const causes = disturbances.touching(first.worker, first.inAt, second.inAt)
  const emptied = causes.find(({ kind }) => kind === 'restart-empty' || kind === 'drop-member')
  if (emptied) return because('data-lost', emptied)
  const pause = causes.find(
    ({ kind, from, to }) => PAUSES.includes(kind) && from <= second.inAt && second.inAt <= to + 1_000_000,
  )
  if (pause && first.lostAt !== undefined && !first.wrote) return because('paused', pause)
  // Granted before its process stood still, and on record after that: it looked when it woke, and did nothing more.
  const cameLate = disturbances
    .touching(second.worker, second.wantAt, Math.max(first.inAt, second.inAt))
    .find(({ kind }) => PAUSES.includes(kind) || kind === 'stop-java')
  if (cameLate && second.lostAt === undefined && second.outAt === undefined && second.killedAt === undefined)
    return because('open')
  if (cameLate && second.lostAt !== undefined && !second.wrote)
    return because(isJava(second.worker) ? 'java' : 'paused', cameLate)
  const cause = disturbances.causeOfLoss(first.worker, first.inAt, second.inAt)
  if (isJava(first.worker) && causes.length > 0) return because('java', cause)
  const failover = causes.find(({ kind }) => FAILOVERS.includes(kind))
  return failover ? because('not-replicated', failover) : because('violation', cause)
}
