import type { Disturbances } from '../evidence/disturbances'
import type { EvidenceRecord } from '../evidence/records'
import { begun, keyOf, ms, type Section, who } from '../evidence/sections'
import type { Finding } from './finding'
import { lostDataSince } from './finding'

/** A waiter before an open latch is asleep after so long (µs) without a fault to excuse it. */
const ASLEEP_AFTER = 2_500_000
/** A reading is judged when all records of its time are in (µs). */
const RECORDS_ARE_IN_AFTER = 1_000_000

/** A change while it is under way and after; without an end it may be applied at any time. */
interface Change {
  readonly begin: number
  end: number
  /** Undefined: unknown. */
  ok: boolean | undefined
}

interface LatchReading {
  readonly askedAt: number
  readonly answeredAt: number
  readonly count: number
}

/**
 * One latch, set anew when it has opened. It must not open before it was counted down as often as it was set for, and
 * must not stay closed after that, or keep a waiter while it is open. A waiter that looks when it was set anew waits on.
 */
export class LatchJudge {
  private readonly waiting = new Map<string, Section>()
  private sets: Change[] = []
  private downs: Change[] = []
  private readonly under = new Map<string, Change>()
  private readings: LatchReading[] = []
  private openSince: number | undefined
  private readonly reported = new Set<string>()
  readonly begunAt: number
  /** How often it was set. */
  generations = 0

  constructor(
    readonly name: string,
    private readonly count: number,
    private readonly disturbances: Disturbances,
    now: number,
  ) {
    this.begunAt = now
  }

  record(record: EvidenceRecord): Finding[] {
    if (record.side === 'a') return this.awaits(record)
    const key = keyOf(record)
    const { at, event, ok } = record
    if (event === 'want') {
      const change: Change = { begin: at, end: Number.POSITIVE_INFINITY, ok: undefined }
      this.under.set(key, change)
      ;(record.side === 's' ? this.sets : this.downs).push(change)
      return []
    }
    const change = this.under.get(key)
    if (!change) return []
    this.under.delete(key)
    if (event !== 'free') return []
    change.end = at
    change.ok = ok
    if (record.side === 's' && ok) this.setAnew(change)
    return []
  }

  killed(worker: string): void {
    for (const [key, { worker: waiting }] of this.waiting) if (waiting === worker) this.waiting.delete(key)
  }

  read(reading: LatchReading): void {
    this.readings.push(reading)
    if (reading.count > 0) this.openSince = undefined
    else this.openSince ??= reading.askedAt
  }

  look(now: number): Finding[] {
    if (this.isSpoiled(now)) {
      this.readings = []
      return []
    }
    const ripe = this.readings.filter(({ answeredAt }) => answeredAt + RECORDS_ARE_IN_AFTER <= now)
    this.readings = this.readings.filter((reading) => !ripe.includes(reading))
    return [...ripe.flatMap((reading) => this.judgeCount(reading)), ...this.asleep(now)]
  }

  isSpoiled(now: number): boolean {
    return lostDataSince(this.disturbances, this.begunAt, now)
  }

  private awaits(record: EvidenceRecord): Finding[] {
    const key = keyOf(record)
    if (record.event === 'want') this.waiting.set(key, begun(record))
    const section = this.waiting.get(key)
    if (record.event === 'want' || !section) return []
    this.waiting.delete(key)
    if (record.event !== 'in' || this.isSpoiled(record.at)) return []
    // The last set of which is sure that it came before: from there to zero takes as many as the count.
    const set = this.sets.findLast(({ ok, end }) => ok === true && end < section.wantAt)
    if (!set) return []
    const possible = this.possibleSince(set, record.at)
    if (possible >= this.count) return []
    const what =
      `${who(section)} went through ${this.name}, which was set to ${this.count} and counted down ${possible} times at ` +
      'most since'
    return [{ kind: 'early', at: record.at, what, worker: section.worker }]
  }

  private setAnew(set: Change) {
    this.generations++
    const previous = this.sets.filter(({ ok, end }) => ok === true && end < set.begin).at(-2)
    if (!previous) return
    this.downs = this.downs.filter(({ end }) => end >= previous.begin)
    this.sets = this.sets.filter(({ end }) => end >= previous.begin)
  }

  private judgeCount({ askedAt, answeredAt, count }: LatchReading): Finding[] {
    const set = this.sets.findLast(({ ok, end }) => ok === true && end < askedAt)
    if (!set) return []
    const others = this.sets.filter((each) => each !== set && each.ok !== false)
    if (others.some(({ begin, end }) => begin <= answeredAt && end >= set.begin)) return []
    const surely = this.downs.filter(({ ok, begin, end }) => ok && begin > set.end && end < askedAt).length
    const possible = this.possibleSince(set, answeredAt)
    const said = `${this.name} was set to ${this.count} and stands at ${count}`
    if (count > Math.max(0, this.count - surely))
      return this.once(`never ${set.begin}`, {
        kind: 'never',
        at: answeredAt,
        what: `${said}, though it was counted down ${surely} times`,
      })
    if (count < this.count - possible)
      return this.once(`early ${set.begin}`, {
        kind: 'early',
        at: answeredAt,
        what: `${said}, though it was counted down ${possible} times at most`,
      })
    return []
  }

  private asleep(now: number): Finding[] {
    const { openSince } = this
    if (openSince === undefined) return []
    return [...this.waiting.values()].flatMap((waiter) => {
      const since = Math.max(openSince, waiter.wantAt)
      if (this.disturbances.quiet(waiter.worker, since, now) < ASLEEP_AFTER) return []
      const what = `${who(waiter)} sleeps though ${this.name} is open for ${ms(now - since)}`
      return this.once(`asleep ${keyOf(waiter)} ${waiter.wantAt}`, {
        kind: 'asleep',
        at: now,
        what,
        worker: waiter.worker,
      })
    })
  }

  private possibleSince(set: Change, to: number): number {
    return this.downs.filter(({ begin, end }) => end >= set.begin && begin <= to).length
  }

  private once(key: string, finding: Finding): Finding[] {
    if (this.reported.has(key)) return []
    this.reported.add(key)
    return [finding]
  }
}
