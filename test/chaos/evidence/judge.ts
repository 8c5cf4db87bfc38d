import { type Disturbance, Disturbances } from './disturbances'
import { judge, type Overlap, type OverlapVerdict } from './overlaps'
import type { EvidenceRecord } from './records'
import { isJava, keyOf, LockState, type Section, together } from './sections'
import { Tally } from './tally'
import type { Violation, ViolationKind } from './violations'

/** Longer than that without a fault to excuse it, a waiter before a free lock is asleep. A busy machine included. */
const ASLEEP_AFTER = 2_500_000
/** A lock that a living, undisturbed client keeps for so long with nobody inside was granted to nobody. */
const KEPT_FOR_NOBODY_AFTER = 2_500_000
/** No Java hold that is released lasts for so many turns. */
const KEPT_BY_JAVA = 5_000_000
const TURNS_KEPT_BY_JAVA = 20
const LONGEST_LEASE = 20_000_000
/** A waiter that others pass for this long, with nothing broken around it, is stuck. */
const STUCK_AFTER = 45_000_000
const PASSED_BY = 40

/** Judges a run from the records of its workers, in the evidence server's order, and from what was broken when. */
export class Judge {
  readonly disturbances = new Disturbances()
  readonly tally = new Tally(this.disturbances)
  readonly violations: Violation[] = []
  readonly locks = new Map<string, LockState>()
  private first: number | undefined

  constructor(private readonly onViolation: (kind: ViolationKind, worker: string) => void = () => {}) {}
  private readonly killed = new Map<string, number>()
  private undecided: Overlap[] = []
  /** Sections that took part in an overlap which is excused: what they overwrote is excused with it. */
  private readonly excused = new Set<Section>()
  private readonly lostUpdates: { section: Section; at: number; what: string }[] = []
  private readonly stuck = new Set<string>()

  record(record: EvidenceRecord): void {
    this.first ??= record.at
    const lock = this.lock(record.lock)
    lock.remember(record)
    switch (record.event) {
      case 'want':
        if (this.killed.has(record.worker)) break
        lock.waiting.set(keyOf(record), begun(record))
        this.stuck.delete(keyOf(record))
        break
      case 'quit':
        lock.waiting.delete(keyOf(record))
        break
      case 'in':
        this.entered(lock, record)
        break
      case 'lost':
        this.lost(lock, record)
        break
      case 'out':
        this.left(lock, record)
        break
      case 'free':
        this.freed(lock, record)
        break
    }
  }

  workerKilled(worker: string, at: number): void {
    this.killed.set(worker, at)
    for (const lock of this.locks.values()) {
      for (const [key, section] of lock.inside)
        if (section.worker === worker) this.endKilled(lock, key, section, at)
      for (const [key, { worker: waiting }] of lock.waiting) if (waiting === worker) lock.waiting.delete(key)
    }
  }

  /** The lock's key did not exist from one moment to another, and still does not. */
  keyAbsent(name: string, from: number, to: number): void {
    const lock = this.lock(name)
    for (const waiter of lock.waiting.values()) {
      const since = Math.max(from, waiter.wantAt)
      const asleep = this.disturbances.quiet(waiter.worker, since, to)
      if (isJava(waiter.worker) || asleep < ASLEEP_AFTER || this.stuck.has(keyOf(waiter))) continue
      this.stuck.add(keyOf(waiter))
      this.violation(
        'asleep',
        to,
        `${who(waiter)} sleeps though ${name} is free for ${ms(to - since)}`,
        waiter.worker,
        lock,
      )
    }
  }

  /**
   * The lock's key has had this owner without a break, though its process came in several times since: a Java
   * thread that counted an acquisition twice whose reply was lost (Redisson resends HINCRBY by 1). It goes in and
   * out of its own hold then, and nobody else comes in until its process ends.
   */
  keyHeldOn(
    name: string,
    { field, worker }: { field: string; worker: string },
    turns: number,
    from: number,
    to: number,
  ): void {
    const lock = this.lock(name)
    if (!isJava(worker) || to - from < KEPT_BY_JAVA) return
    if ((lock.turnsBy.get(worker) ?? 0) - turns < TURNS_KEPT_BY_JAVA) return
    lock.keptByJavaUntil = to
    this.tally.doubleCountsOfJava.add(`${name} ${field}`)
  }

  /** The lock's key has had this owner from one moment to another, with nobody inside. */
  keyKept(
    name: string,
    { field, worker }: { field: string; worker: string },
    from: number,
    to: number,
  ): void {
    const lock = this.lock(name)
    // It is not free, whoever was the last to release it.
    if (lock.freeSince !== undefined) lock.freeSince = to
    this.tally.keptForNobody(worker, from, to)
    const key = `${name}|${field}`
    if (isJava(worker) || this.killed.has(worker) || this.stuck.has(key)) return
    // What was lost by the clock here is left to its lease there.
    if (from - (lock.lastLost.get(worker) ?? Number.NEGATIVE_INFINITY) < LONGEST_LEASE) return
    if (this.disturbances.quiet(worker, from, to) < KEPT_FOR_NOBODY_AFTER) return
    this.stuck.add(key)
    const what = `${name} has been kept for nobody for ${ms(to - from)} by ${field} of ${worker}`
    this.violation('held-by-nobody', to, what, worker, lock)
  }

  /** Looks at what only time can tell; to be called every now and then. */
  look(now: number): void {
    this.decide()
    for (const lock of this.locks.values())
      for (const [key, waiter] of lock.waiting) {
        const waited = now - waiter.wantAt
        if (waited < STUCK_AFTER || this.stuck.has(key) || isJava(waiter.worker)) continue
        // A read-write lock of Redisson's prefers nobody: among readers that come and go writers may starve awake.
        if (waiter.side === 'w') continue
        if (now - (lock.keptByJavaUntil ?? 0) < KEPT_BY_JAVA) continue
        if (lock.turns - this.turnsAt(waiter) < PASSED_BY) continue
        if (this.disturbances.quiet(waiter.worker, waiter.wantAt, now) < STUCK_AFTER / 3) continue
        this.stuck.add(key)
        this.violation(
          'stuck',
          now,
          `${who(waiter)} has waited for ${lock.name} for ${ms(waited)}`,
          waiter.worker,
        )
      }
  }

  violation(kind: ViolationKind, at: number, what: string, worker?: string, lock?: LockState): void {
    const fault = this.disturbances.latestBefore(at, worker)
    const context = lock === undefined || this.violations.length > 20 ? [] : this.contextOf(lock)
    this.violations.push({ kind, what, fault: fault?.kind, afterMs: this.passed(at), context })
    this.tally.violated(fault)
    if (worker !== undefined) this.onViolation(kind, worker)
  }

  /** All records are in. */
  finish(): void {
    this.decide()
    for (const overlap of this.undecided) {
      const { first, second } = overlap
      // Its last word is missing: it was inside to the very end.
      first.outAt ??= second.inAt
    }
    this.decide()
    for (const { section, at, what } of this.lostUpdates) {
      if (this.excused.has(section)) this.tally.excusedLostUpdates++
      else this.violation('lost-update', at, what, section.worker, this.lock(section.lock))
    }
  }

  private passed(at: number): number {
    return (at - (this.first ?? at)) / 1000
  }

  private contextOf(lock: LockState): string[] {
    const broken = this.disturbances.all.slice(-12).flatMap(({ kind, worker, from, to }) => [
      { at: from, text: `FAULT ${kind} ${worker ?? ''}` },
      { at: to, text: `FAULT ${kind} ${worker ?? ''} over` },
    ])
    return [...lock.recent, ...broken]
      .sort((a, b) => a.at - b.at)
      .map(({ at, text }) => `${Math.round(this.passed(at))} ${text}`)
  }

  private readonly turnsSeen = new WeakMap<Section, number>()

  private turnsAt(waiter: Section): number {
    return this.turnsSeen.get(waiter) ?? 0
  }

  lock(name: string): LockState {
    let lock = this.locks.get(name)
    if (!lock) {
      lock = new LockState(name)
      this.locks.set(name, lock)
    }
    return lock
  }

  private entered(lock: LockState, record: EvidenceRecord) {
    const key = keyOf(record)
    const section = lock.waiting.get(key) ?? begun(record)
    lock.waiting.delete(key)
    section.inAt = record.at
    lock.grants++
    // Readers that join readers pass nobody.
    if (record.side !== 'r') lock.turns++
    lock.turnsBy.set(record.worker, (lock.turnsBy.get(record.worker) ?? 0) + 1)
    for (const waiter of lock.waiting.values())
      if (!this.turnsSeen.has(waiter)) this.turnsSeen.set(waiter, lock.turns)
    this.tally.entered(section)
    for (const other of lock.inside.values()) {
      // Whoever is about to release has nothing more to do inside.
      if (together(other.side, section.side) || other.outAt !== undefined) continue
      this.undecided.push({ first: other, second: section })
    }
    if (lock.freeSince !== undefined) this.tally.woken(lock, section)
    lock.freeSince = undefined
    lock.inside.set(key, section)
    const killedAt = this.killed.get(record.worker)
    if (killedAt !== undefined) this.endKilled(lock, key, section, killedAt)
  }

  private lost(lock: LockState, record: EvidenceRecord) {
    const section = lock.inside.get(keyOf(record))
    if (!section || section.lostAt !== undefined) return
    section.lostAt = record.at
    lock.lastLost.set(section.worker, record.at)
    this.tally.lost(section)
    if (isJava(section.worker) || section.lease !== undefined) return
    if (this.disturbances.touching(section.worker, section.inAt - 1_000_000, record.at).length > 0) return
    this.violation(
      'unexplained-loss',
      record.at,
      `${who(section)} lost ${lock.name} though nothing was broken`,
    )
  }

  private left(lock: LockState, record: EvidenceRecord) {
    const section = lock.inside.get(keyOf(record))
    if (!section) return
    section.outAt = record.at
    if (record.value === undefined) return
    section.wrote = true
    if (record.value !== lock.counter + 1)
      this.lostUpdates.push({
        section,
        at: record.at,
        what: `${who(section)} wrote ${record.value} to ${lock.name} where ${lock.counter} was`,
      })
    lock.counter = record.value
  }

  private freed(lock: LockState, record: EvidenceRecord) {
    lock.inside.delete(keyOf(record))
    // How fast Java's waiters wake is Java's affair.
    const somebodyWaits = [...lock.waiting.values()].some(({ worker }) => !isJava(worker))
    lock.freeSince = record.ok && !lock.isInside() && somebodyWaits ? record.at : undefined
  }

  private endKilled(lock: LockState, key: string, section: Section, at: number) {
    section.killedAt = at
    lock.inside.delete(key)
  }

  private decide() {
    const open: Overlap[] = []
    for (const overlap of this.undecided) {
      const { verdict, cause } = judge(overlap, this.disturbances)
      if (verdict === 'open') open.push(overlap)
      else this.decided(overlap, verdict, cause)
    }
    this.undecided = open
  }

  private decided({ first, second }: Overlap, verdict: OverlapVerdict, cause: Disturbance | undefined) {
    const sample = () => ({ first, second, context: this.contextOf(this.lock(first.lock)) })
    this.tally.overlapped(verdict, cause, sample)
    if (verdict !== 'violation') {
      if (verdict === 'told') return
      this.excused.add(first)
      this.excused.add(second)
      return
    }
    const what = `${who(second)} came into ${first.lock} ${ms(second.inAt - first.inAt)} after ${who(first)}, who was ${
      first.lostAt === undefined ? 'never told' : `told ${ms(first.lostAt - second.inAt)} later`
    }${first.wrote ? ' and wrote' : ''}`
    this.violation('overlap', second.inAt, what, first.worker, this.lock(first.lock))
  }
}

function begun({ worker, flow, lock, side, lease, at }: EvidenceRecord): Section {
  return {
    ...{ worker, flow, lock, side, lease, wantAt: at, inAt: at },
    ...{ lostAt: undefined, outAt: undefined, wrote: false, killedAt: undefined },
  }
}

const who = ({ worker, flow, side }: Section): string => `${worker} ${flow} (${side})`
const ms = (micros: number): string => `${Math.round(micros / 1000)} ms`
