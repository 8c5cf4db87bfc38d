import type { FaultKind } from '../plan/catalogue'
import type { Disturbance, Disturbances } from './disturbances'
import { isJava, ms, type Section, who } from './sections'

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

interface Decided extends Overlap {
  readonly verdict: OverlapVerdict
  readonly cause: Disturbance | undefined
}

interface LostUpdate {
  readonly section: Section
  readonly at: number
  readonly what: string
}

/** Finds sections that overlap though they exclude each other, and what they wrote over. */
export class Exclusion {
  private undecided: Overlap[] = []
  /** Sections that took part in an overlap which is excused: what they overwrote is excused with it. */
  private readonly excused = new Set<Section>()
  private readonly lostUpdates: LostUpdate[] = []

  constructor(private readonly disturbances: Disturbances) {}

  /** The second came in while the first had not ended. */
  met(first: Section, second: Section): void {
    this.undecided.push({ first, second })
  }

  wrote(section: Section, value: number, counter: number, at: number): void {
    if (value === counter + 1) return
    const what = `${who(section)} wrote ${value} to ${section.lock} where ${counter} was`
    this.lostUpdates.push({ section, at, what })
  }

  /** What can be said by now, each once. */
  look(): Decided[] {
    const decided = this.undecided.map((overlap) => ({ ...overlap, ...judge(overlap, this.disturbances) }))
    this.undecided = this.undecided.filter((_, i) => decided[i]!.verdict === 'open')
    for (const { first, second, verdict } of decided)
      if (!['open', 'reported', 'violation'].includes(verdict)) this.excused.add(first).add(second)
    return decided.filter(({ verdict }) => verdict !== 'open')
  }

  /** All records are in: whose last word is missing was inside to the very end. */
  finish(): Decided[] {
    for (const { first, second } of this.undecided) first.outAt ??= second.inAt
    return this.look()
  }

  /** To be asked when every overlap is decided. */
  lost(): (LostUpdate & { readonly excused: boolean })[] {
    return this.lostUpdates.map((lost) => ({ ...lost, excused: this.excused.has(lost.section) }))
  }
}

export function describeOverlap({ first, second }: Overlap): string {
  const reported =
    first.lostAt === undefined ? 'never reported' : `reported ${ms(first.lostAt - second.inAt)} later`
  return (
    `${who(second)} came into ${first.lock} ${ms(second.inAt - first.inAt)} after ${who(first)}, who was ${reported}` +
    (first.wrote ? ' and wrote' : '')
  )
}
