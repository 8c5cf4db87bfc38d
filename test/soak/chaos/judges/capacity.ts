import type { Disturbances } from '../evidence/disturbances'
import { judge as judgeOverlap } from '../evidence/overlaps'
import type { EvidenceRecord } from '../evidence/records'
import { begun, isJava, keyOf, ms, type Section, who } from '../evidence/sections'
import { LATE_MS } from '../plan/catalogue'
import type { Finding } from './finding'
import { lostDataSince } from './finding'

/** A waiter before enough permits that are free is asleep after so long (µs) without a fault to excuse it. */
const ASLEEP_AFTER = 2_500_000
/** A reading is judged when all records of its time are in (µs). */
const RECORDS_ARE_IN_AFTER = 1_000_000
/** A client goes on releasing in the background for no longer (µs). */
const RELEASED_WITHIN = 60_000_000
/** For so long two keys that travel to another node may be seen one without the other (µs). */
const SEEN_APART_FOR = 1_500_000

/** One turn of a caller, from its `want` to its `free` or `quit`. */
interface PermitTurn {
  readonly section: Section
  readonly units: number
  entered: boolean
  freed: boolean
}

/** What the server said: `out` is known only where permits have owners. Times in µs. */
export interface PermitReading {
  readonly askedAt: number
  readonly answeredAt: number
  /** Undefined where there is no such semaphore. */
  readonly free: number | undefined
  readonly out: number | undefined
}

interface Overfull {
  readonly second: PermitTurn
  readonly others: readonly PermitTurn[]
}

interface PendingReading extends PermitReading {
  readonly free: number
  readonly held: readonly PermitTurn[]
}

/**
 * One generation of a semaphore: never more permits in use than there are, by the order of the evidence server; the permits
 * that are free and those in use are as many as there are; and no caller sleeps before enough of them.
 */
export class Capacity {
  private readonly turns = new Map<string, PermitTurn>()
  private overfull: Overfull[] = []
  private readings: PendingReading[] = []
  private apartSince: number | undefined
  private servable: { since: number; grants: number } | undefined
  /** How often permits were taken. */
  grants = 0
  /** What is released in the background, if at all: were the process killed meanwhile, it may stay out. */
  private doubtful: { readonly turn: PermitTurn; readonly at: number }[] = []
  private doubtfulOfKilled = 0
  private readonly killedAt = new Map<string, number>()
  private readonly reported = new Set<string>()
  readonly begunAt: number

  constructor(
    readonly name: string,
    private readonly total: number,
    /** Permits of a process that was killed come back when their leases end. */
    private readonly expires: boolean,
    private readonly disturbances: Disturbances,
    now: number,
  ) {
    this.begunAt = now
  }

  /** Answers the section that has begun. */
  record(record: EvidenceRecord): { entered?: Section; findings: Finding[] } {
    const key = keyOf(record)
    const { event, at } = record
    if (event === 'want')
      this.turns.set(key, { section: begun(record), units: record.units ?? 1, entered: false, freed: false })
    const turn = this.turns.get(key)
    if (!turn) return { findings: [] }
    // What it had recorded may be read after it was killed.
    turn.section.killedAt ??= this.killedAt.get(record.worker)
    const { section } = turn
    if (event === 'in') {
      this.entered(turn, at)
      return { entered: section, findings: [] }
    }
    if (event === 'out') section.outAt = at
    if (event === 'lost') return { findings: this.lost(section, at) }
    if (event === 'quit' || (event === 'free' && !record.ok)) this.doubtful.push({ turn, at })
    if (event === 'free' || event === 'quit') {
      turn.freed = true
      this.turns.delete(key)
    }
    return { findings: [] }
  }

  killed(worker: string, at: number): void {
    this.killedAt.set(worker, at)
    for (const { turn, at: since } of this.doubtful)
      if (turn.section.worker === worker && since > at - RELEASED_WITHIN) this.doubtfulOfKilled += turn.units
    this.doubtful = this.doubtful.filter(({ at: since }) => since > at - RELEASED_WITHIN)
    for (const [key, { section, entered, freed }] of this.turns) {
      if (section.worker !== worker || freed) continue
      section.killedAt ??= at
      if (this.expires && entered) this.turns.delete(key)
    }
  }

  read(reading: PermitReading): void {
    const { free, out, askedAt, answeredAt } = reading
    if (free === undefined) {
      this.servable = undefined
      return
    }
    const isWhole = out === undefined || free + out === this.total
    if (isWhole || this.isSpoiled(answeredAt)) this.apartSince = undefined
    else this.apartSince ??= askedAt
    const held = [...this.turns.values()].filter(
      ({ entered, section }) => entered && section.outAt === undefined && section.lostAt === undefined,
    )
    if (out === undefined) this.readings.push({ ...reading, free, held })
    this.serve(free, askedAt)
  }

  look(now: number): Finding[] {
    return [
      ...this.lookAtOverfull(),
      ...this.lookAtReadings(now),
      ...this.lookAtSum(now),
      ...this.asleep(now),
    ]
  }

  finish(): Finding[] {
    for (const { others, second } of this.overfull)
      for (const { section } of others) section.outAt ??= second.section.inAt
    return this.lookAtOverfull()
  }

  /** How many permits may be out when only the killed processes may still have some. */
  get heldByKilled(): { readonly least: number; readonly most: number } {
    const turns = [...this.turns.values()].filter(({ section }) => section.killedAt !== undefined)
    const sum = (of: readonly PermitTurn[]) => of.reduce((all, { units }) => all + units, 0)
    if (this.expires) return { least: 0, most: 0 }
    const surely = turns.filter(({ entered, section }) => entered && section.outAt === undefined)
    return { least: sum(surely), most: sum(turns) + this.doubtfulOfKilled }
  }

  /** What the server confirmed may be gone. */
  isSpoiled(now: number): boolean {
    return lostDataSince(this.disturbances, this.begunAt, now)
  }

  private entered(turn: PermitTurn, at: number) {
    turn.section.inAt = at
    turn.entered = true
    this.grants++
    const others = [...this.turns.values()].filter(
      ({ entered, section }) => entered && section !== turn.section && section.outAt === undefined,
    )
    const units = others.reduce((sum, each) => sum + each.units, turn.units)
    if (units > this.total) this.overfull.push({ second: turn, others })
  }

  private lost(section: Section, at: number): Finding[] {
    if (section.lostAt !== undefined) return []
    section.lostAt = at
    if (section.lease !== undefined) return []
    if (this.disturbances.touching(section.worker, section.inAt - 1_000_000, at).length > 0) return []
    const what = `${who(section)} lost a permit of ${this.name} though nothing was broken`
    return [{ kind: 'unexplained-loss', at, what, worker: section.worker }]
  }

  private lookAtOverfull(): Finding[] {
    const findings: Finding[] = []
    this.overfull = this.overfull.filter(({ second, others }) => {
      const verdicts = others.map((first) => ({
        first,
        verdict: judgeOverlap({ first: first.section, second: second.section }, this.disturbances).verdict,
      }))
      if (verdicts.some(({ verdict }) => verdict === 'open')) return true
      const inside = verdicts.filter(({ verdict }) => verdict === 'violation').map(({ first }) => first)
      const units = inside.reduce((sum, each) => sum + each.units, second.units)
      if (units <= this.total || this.isSpoiled(second.section.inAt)) return false
      const what =
        `${units} permits of ${this.name} were in use where there are ${this.total}: ${who(second.section)} came in ` +
        `beside ${inside.map(({ section }) => who(section)).join(', ')}`
      findings.push({ kind: 'overfull', at: second.section.inAt, what, worker: second.section.worker })
      return false
    })
    return findings
  }

  private lookAtReadings(now: number): Finding[] {
    const ripe = this.readings.filter(({ answeredAt }) => answeredAt + RECORDS_ARE_IN_AFTER <= now)
    this.readings = this.readings.filter((reading) => !ripe.includes(reading))
    return ripe.flatMap(({ free, held, askedAt, answeredAt }) => {
      const surely = held.filter(
        ({ section: { inAt, outAt } }) => inAt < askedAt && (outAt === undefined || outAt > answeredAt),
      )
      const out = surely.reduce((sum, { units }) => sum + units, 0)
      if (free + out <= this.total || this.isSpoiled(answeredAt)) return []
      const what = `${free} permits of ${this.name} were free while ${out} of ${this.total} were in use`
      return this.once('permits', { kind: 'permits', at: answeredAt, what })
    })
  }

  private lookAtSum(now: number): Finding[] {
    const { apartSince } = this
    if (apartSince === undefined || now - apartSince < SEEN_APART_FOR) return []
    const moved = this.disturbances
      .touching(undefined, apartSince, now)
      .some(({ kind }) => kind === 'move-slot')
    if (moved) return []
    const what = `the permits of ${this.name} that are free and those in use have not been ${this.total} for ${ms(now - apartSince)}`
    return this.once('permits', { kind: 'permits', at: now, what })
  }

  private serve(free: number, at: number) {
    const waiting = this.waiting()
    const canAll = waiting.length > 0 && waiting.every(({ units }) => units <= free)
    if (!canAll) this.servable = undefined
    else if (this.servable?.grants !== this.grants) this.servable = { since: at, grants: this.grants }
  }

  private asleep(now: number): Finding[] {
    const { servable } = this
    if (!servable || servable.grants !== this.grants || this.isSpoiled(now)) return []
    return this.waiting().flatMap(({ section }) => {
      const since = Math.max(servable.since, section.wantAt)
      if (isJava(section.worker) || this.disturbances.quiet(section.worker, since, now) < ASLEEP_AFTER)
        return []
      const what = `${who(section)} sleeps though permits of ${this.name} are free for ${ms(now - since)}`
      return this.once(`asleep ${keyOf(section)}`, { kind: 'asleep', at: now, what, worker: section.worker })
    })
  }

  private waiting(): PermitTurn[] {
    return [...this.turns.values()].filter(
      ({ entered, section }) => !entered && section.killedAt === undefined,
    )
  }

  private once(key: string, finding: Finding): Finding[] {
    if (this.reported.has(key)) return []
    this.reported.add(key)
    return [finding]
  }
}

/** When the last copy has arrived that a fault delays (µs); to be asked at the end. */
export function lastLateCopy({ all }: Disturbances): number {
  const ends = all.filter(({ kind }) => kind === 'late-copies').map(({ to }) => to + LATE_MS * 1_000)
  return Math.max(0, ...ends.filter(Number.isFinite))
}
