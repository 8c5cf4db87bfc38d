import type { Overlap } from '../../../../tools/simulator/judge/rules/exclusion'
import type { FaultKind } from '../plan/catalogue'
import type { Disturbance, Disturbances } from './disturbances'
import { type LockState, type Section, together } from './sections'
import type { Share } from './shares'

/** What is counted for one kind of fault. Times in ms. */
export interface FaultTally {
  injected: number
  /** Sections begun after it and before the next. */
  sections: number
  violations: number
  /** Holds that were lost, and reported. */
  losses: number
  /** From a release to the next waiter inside, at worst. */
  worstWakeUp: number
  /** How long a lock's key stayed with no caller inside, at worst: a dead process's, or a grant whose answer is stuck. */
  keptUnused: number
  /** From being notified of a loss to the next one inside, at best: how much time there was. */
  shortestLead: number | undefined
  /** From the end of a pause to the notification, at worst. */
  worstNoticeAfterWaking: number | undefined
  /** Overlaps that no lock on Redis can prevent or tell of, by their reason. */
  excused: Partial<Record<ExcuseName, number>>
}

export const emptyTally = (): FaultTally => ({
  ...{ injected: 0, sections: 0, violations: 0, losses: 0, worstWakeUp: 0, keptUnused: 0 },
  ...{ shortestLead: undefined, worstNoticeAfterWaking: undefined, excused: {} },
})

export type ExcuseName = NonNullable<Overlap['excuse']>

export type TalliedKind = FaultKind | 'none'

/** ms */
const SLOW_WAKE_UP = 1_000

const PAUSES: readonly FaultKind[] = ['stop-worker', 'block-loop']

/** Keeps the figures of a run, fault by fault. */
export class Tally {
  readonly byFault = new Map<TalliedKind, FaultTally>()
  sections = 0
  sectionsByJava = 0
  /** Locks that a Java thread kept after a lost reply, as Redisson's count allows. */
  readonly doubleCountsOfJava = new Set<string>()
  /** By lock, side and language, in ms. */
  readonly longestWaits = new Map<string, number>()
  /** The smallest share of what was due, by lock and language. */
  readonly leastShares = new Map<string, number>()
  readonly slowWakeUps: { kind: TalliedKind; lock: string; by: string; took: number }[] = []
  private readonly lastLoss = new Map<string, Section>()

  constructor(private readonly disturbances: Disturbances) {}

  injected(kind: FaultKind): void {
    this.of(kind).injected++
  }

  entered(section: Section): void {
    this.sections++
    const whose = section.worker.startsWith('java') ? 'java' : 'node'
    const queue = `${section.lock} ${section.side} ${whose}`
    const waited = (section.inAt - section.wantAt) / 1000
    this.longestWaits.set(queue, Math.max(this.longestWaits.get(queue) ?? 0, waited))
    if (section.worker.startsWith('java')) this.sectionsByJava++
    const last = this.disturbances.all.at(-1)
    this.of(last && last.from <= section.inAt ? last.kind : 'none').sections++
    const loss = this.lastLoss.get(section.lock)
    if (!loss || loss.lostAt === undefined || together(loss.side, section.side)) return
    this.lastLoss.delete(section.lock)
    const lead = (section.inAt - loss.lostAt) / 1000
    const tally = this.lossTally(loss)
    tally.shortestLead = Math.min(tally.shortestLead ?? Number.POSITIVE_INFINITY, lead)
  }

  shared({ lock, worker, due, got }: Share): void {
    const whose = `${lock} ${worker.startsWith('java') ? 'java' : 'node'}`
    this.leastShares.set(whose, Math.min(this.leastShares.get(whose) ?? Number.POSITIVE_INFINITY, got / due))
  }

  lost(section: Section): void {
    const lostAt = section.lostAt!
    this.lossTally(section).losses++
    const pause = this.pauseBefore(lostAt, section.worker)
    if (pause) {
      const tally = this.of(pause.kind)
      tally.worstNoticeAfterWaking = Math.max(tally.worstNoticeAfterWaking ?? 0, (lostAt - pause.to) / 1000)
    }
    if (section.lease === undefined && !section.worker.startsWith('java'))
      this.lastLoss.set(section.lock, section)
  }

  woken(lock: LockState, by: Section): void {
    const took = (by.inAt - Math.max(lock.freeSince!, by.wantAt)) / 1000
    const kind = this.disturbances.latestBefore(by.inAt)?.kind ?? 'none'
    const tally = this.of(kind)
    tally.worstWakeUp = Math.max(tally.worstWakeUp, took)
    if (took > SLOW_WAKE_UP)
      this.slowWakeUps.push({ kind, lock: lock.name, by: `${by.worker} ${by.caller}`, took })
  }

  keptUnused(worker: string, from: number, to: number): void {
    const tally = this.of(this.disturbances.latestBefore(from, worker)?.kind ?? 'none')
    tally.keptUnused = Math.max(tally.keptUnused, (to - from) / 1000)
  }

  /** By the fault that most likely took the lock from the first one, which came in and met the second one at these moments. */
  excused(excuse: ExcuseName, worker: string, from: number, to: number): void {
    const { excused } = this.of(this.disturbances.causeOfLoss(worker, from, to)?.kind ?? 'none')
    excused[excuse] = (excused[excuse] ?? 0) + 1
  }

  violated(by: Disturbance | undefined): void {
    this.of(by?.kind ?? 'none').violations++
  }

  /** The pause of a process that ended just before it was notified of a loss. */
  private pauseBefore(at: number, worker: string): Disturbance | undefined {
    return this.disturbances.all.findLast(
      (each) =>
        PAUSES.includes(each.kind) && each.worker === worker && each.to <= at && at - each.to < 2_000_000,
    )
  }

  private lossTally({ worker, inAt, lostAt }: Section): FaultTally {
    return this.of(this.disturbances.causeOfLoss(worker, inAt, lostAt!)?.kind ?? 'none')
  }

  private of(kind: TalliedKind): FaultTally {
    let tally = this.byFault.get(kind)
    if (!tally) {
      tally = emptyTally()
      this.byFault.set(kind, tally)
    }
    return tally
  }
}
