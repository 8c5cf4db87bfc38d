import type { Ended, History } from '../../../../tools/simulator/judge/history'
import { judgeLooks } from '../../../../tools/simulator/judge/judge'
import { Reading } from '../../../../tools/simulator/judge/reading'
import { overlapsOf } from '../../../../tools/simulator/judge/rules/exclusion'
import type { Violation as Judged } from '../../../../tools/simulator/judge/violation'
import { tell } from '../../../../tools/simulator/story/text'
import { nameWithout, type Plans } from '../plan/objects'
import { Chronicle, type Look } from './chronicle'
import { Complaints } from './complaints'
import { Disturbances } from './disturbances'
import { Progress } from './progress'
import type { EvidenceRecord } from './records'
import { begun, ms } from './sections'
import { Tally } from './tally'
import type { Violation, ViolationKind } from './violations'

/** All records up to so long ago (µs) are in. */
const RECORDS_ARE_IN_AFTER = 2_000_000
/** How often (µs) the locks are judged, and the counters of a generation, as a whole each time. */
const LOCKS_EVERY = 5_000_000
const COUNTERS_EVERY = 15_000_000
/** A generation with more turns is judged at the end: the proxies of all workers stand still meanwhile. */
const MOST_TURNS_AT_ONCE = 5_000
/** Of so many violations it is kept how they came about. */
const MOST_SHOWN = 10

/** What was judged of an object that no section shows, for the report. */
export interface JudgedBesides {
  readonly object: string
  readonly what: string
  readonly times: number
}

/**
 * Hands what was recorded to the judge of the simulator, piece by piece, and looks at what a run in real time shows besides: how
 * processes share a lock, and whether they come in at all.
 */
export class Judge {
  readonly disturbances = new Disturbances()
  readonly tally = new Tally(this.disturbances)
  readonly violations: Violation[] = []
  readonly progress: Progress
  private readonly chronicle: Chronicle
  private readonly complaints = new Complaints(this.disturbances)
  private readonly reported = new Set<string>()
  private readonly besides = new Map<string, number>()
  private judgedUntil = 0
  private countersJudgedAt = 0

  constructor(
    private readonly plans: Plans,
    private readonly onViolation: (kind: ViolationKind, worker: string) => void = () => {},
  ) {
    this.chronicle = new Chronicle(plans, this.disturbances)
    this.progress = new Progress(plans, this.disturbances, this.tally)
  }

  record(record: EvidenceRecord): void {
    const turn = this.chronicle.record(record)
    const { event, lock, side, at, token } = record
    if (token !== undefined) this.judgedBesides(lock, 'tokens compared')
    if (side === 's' && event === 'free' && record.ok)
      this.judgedBesides(nameWithout(lock), 'times it was set')
    if (!this.chronicle.isCounter(lock)) return this.progress.record(record)
    if (event === 'in' && side === 'p' && turn)
      this.tally.entered({ ...begun(turn.want), lock: nameWithout(lock), inAt: at })
  }

  /** A look at a key. */
  seen(look: Look): void {
    this.chronicle.look(look)
    for (const owner of look.queue ?? []) {
      if (this.reported.has(owner)) continue
      this.reported.add(owner)
      this.judgedBesides(look.name, 'places in the queue')
    }
  }

  /** A worker's client raised an `error` event. */
  complained(worker: string, message: string, at: number): void {
    this.complaints.complained(worker, message, at)
  }

  workerKilled(worker: string, at: number): void {
    this.chronicle.killed(worker, at)
    this.progress.killed(worker, at)
  }

  /** Looks at what only time can tell, and judges what is new; to be called every now and then. */
  look(now: number): void {
    for (const { kind, what, worker } of this.progress.look(now)) this.violation(kind, now, what, worker)
    for (const { refusal, worker } of this.complaints.look(now)) {
      const what = `${worker} could not publish for ${ms(refusal.to - refusal.from)} and raised no error event`
      this.violation('silent', now, what, worker)
    }
    const to = now - RECORDS_ARE_IN_AFTER
    if (to - this.judgedUntil >= LOCKS_EVERY) this.judgeLocks(to)
    if (to - this.countersJudgedAt >= COUNTERS_EVERY) this.judgeCounters(to)
  }

  /** All records are in. */
  finish(now: number, end?: Omit<Ended, 'type' | 'at'>): void {
    this.judgeLocks(now, end)
    this.countersJudgedAt = 0
    this.judgeCounters(now, end && { keys: [], channels: [], clients: [] })
  }

  violation(
    kind: ViolationKind,
    at: number,
    what: string,
    worker?: string,
    shown?: Violation['shown'],
  ): void {
    const fault = this.disturbances.latestBefore(at, worker)
    const first = this.chronicle.first ?? at
    const isShown = this.violations.length < MOST_SHOWN
    const context = shown && isShown ? tell(shown.history, shown.violation).split('\n') : []
    const afterMs = (at - first) / 1_000
    this.violations.push({
      kind,
      what,
      fault: fault?.kind,
      afterMs,
      context,
      shown: isShown ? shown : undefined,
    })
    this.tally.violated(fault)
    if (worker !== undefined) this.onViolation(kind, worker)
  }

  /** How much was judged that no section shows. */
  get judged(): JudgedBesides[] {
    return [...this.besides].map(([key, times]) => {
      const [object = '', what = ''] = key.split('|')
      return { object, what, times }
    })
  }

  /** The generations of semaphores that were used, but for those that the servers may have forgotten. */
  get unspoiled(): readonly string[] {
    const spoiling = this.chronicle.spoiledNames()
    return this.chronicle.counterNames.filter((name) => !spoiling.has(name))
  }

  /** How many permits there are; 0 for a latch. */
  unitsOf(name: string): number {
    const plan = this.plans.objects.find((each) => each.name === nameWithout(name))
    return plan && 'total' in plan ? plan.total : 0
  }

  /** At most so many permits without leases are out with processes that were killed. */
  heldByKilled(name: string): number {
    return this.chronicle.unitsOfKilled(name)
  }

  private judgedBesides(object: string, what: string) {
    const key = `${object}|${what}`
    this.besides.set(key, (this.besides.get(key) ?? 0) + 1)
  }

  private judgeLocks(to: number, end?: Omit<Ended, 'type' | 'at'>) {
    const history = this.chronicle.locks(this.judgedUntil, to, end)
    this.judgedUntil = to
    const reading = new Reading(history)
    this.report(history, judgeLooks(reading, false))
    const first = this.chronicle.first ?? to
    for (const { first: one, second, excuse } of overlapsOf(reading)) {
      const key = `${one.id} ${second.id}`
      if (!excuse || this.reported.has(key)) continue
      this.reported.add(key)
      const [from, met] = [one, second].map(({ enteredAt }) => first + reading.timeOf(enteredAt) * 1_000)
      this.tally.excused(excuse, one.call.client, from!, met!)
    }
  }

  private judgeCounters(to: number, end?: Omit<Ended, 'type' | 'at'>) {
    for (const name of this.chronicle.counterNames) {
      if (!this.chronicle.isInUse(name, this.countersJudgedAt)) continue
      if (!end && this.chronicle.turnsOf(name) > MOST_TURNS_AT_ONCE) continue
      const history = this.chronicle.counter(name, to, end)
      this.report(history, judgeLooks(new Reading(history), true))
    }
    this.countersJudgedAt = to
  }

  private report(history: History, found: readonly Judged[]) {
    const first = this.chronicle.first ?? 0
    for (const violation of found) {
      const { rule, name, at, what, events } = violation
      const shown = history.events[events[0] ?? 0]
      const key = `${rule} ${name} ${shown?.at}`
      if (this.reported.has(key)) continue
      this.reported.add(key)
      const worker = shown?.type === 'call' ? shown.client : undefined
      this.violation(rule, first + at * 1_000, what, worker, { history, violation })
    }
  }
}
