import { LONGEST_LEASE } from '../plan/catalogue'
import { type Disturbance, Disturbances } from './disturbances'
import { describeOverlap, Exclusion } from './overlaps'
import type { EvidenceRecord } from './records'
import { begun, isJava, keyOf, LockState, ms, type Section, together, who } from './sections'
import { type Share, Shares, Standstills, StuckWaiters } from './shares'
import { Tally } from './tally'
import { contextOf, Recent, traceOf } from './trace'
import type { Violation, ViolationKind } from './violations'
import { Complaints } from './violations'

/** Longer than that without a fault to excuse it, a waiter before a free lock is asleep. A busy machine included. */
const ASLEEP_AFTER = 2_500_000
/** A lock that a living, undisturbed client keeps for so long with no caller inside was granted for nothing. */
const KEPT_UNUSED_AFTER = 2_500_000
/** No Java hold that is released lasts for so many turns. */
const KEPT_BY_JAVA = 5_000_000
const TURNS_KEPT_BY_JAVA = 20

/** Judges a run from the records of its workers, in the evidence server's order, and from what was broken when. */
export class Judge {
  readonly disturbances = new Disturbances()
  readonly tally = new Tally(this.disturbances)
  readonly violations: Violation[] = []
  readonly locks = new Map<string, LockState>()
  protected readonly recent = new Recent()
  private readonly exclusion = new Exclusion(this.disturbances)
  private readonly shares = new Shares(this.disturbances)
  private readonly standstills = new Standstills(this.disturbances)
  private readonly complaints = new Complaints(this.disturbances)
  private readonly stuckWaiters = new StuckWaiters(this.disturbances)
  protected first: number | undefined

  constructor(private readonly onViolation: (kind: ViolationKind, worker: string) => void = () => {}) {}

  private readonly killed = new Map<string, number>()
  private readonly stuck = new Set<string>()

  record(record: EvidenceRecord): void {
    this.first ??= record.at
    const lock = this.lock(record.lock)
    this.recent.remember(record)
    switch (record.event) {
      case 'want':
        if (this.killed.has(record.worker)) break
        lock.waiting.set(keyOf(record), begun(record))
        this.stuck.delete(keyOf(record))
        break
      case 'quit':
        this.gaveUp(lock, record)
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

  /** A worker's client raised an `error` event. */
  complained(worker: string, message: string, at: number): void {
    this.complaints.complained(worker, message, at)
  }

  workerKilled(worker: string, at: number): void {
    this.killed.set(worker, at)
    for (const lock of this.locks.values()) {
      for (const [key, section] of lock.inside)
        if (section.worker === worker) this.endKilled(lock, key, section, at)
      for (const [key, { worker: waiting }] of lock.waiting) if (waiting === worker) lock.waiting.delete(key)
    }
  }

  /** Whether the worker was killed, or a fault has touched it just now. */
  isAway(worker: string, at: number): boolean {
    return this.killed.has(worker) || this.disturbances.touching(worker, at - 2_000_000, at).length > 0
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
   * out of its own hold then, and no other caller comes in until its process ends.
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
    this.shares.forget(lock, from)
    this.stuckWaiters.forget(lock)
    this.tally.doubleCountsOfJava.add(`${name} ${field}`)
  }

  /** The lock's key has had this owner from one moment to another, with no caller inside. */
  keyKept(
    name: string,
    { field, worker }: { field: string; worker: string },
    from: number,
    to: number,
  ): void {
    const lock = this.lock(name)
    // It is not free, whichever caller was the last to release it.
    if (lock.freeSince !== undefined) lock.freeSince = to
    this.tally.keptUnused(worker, from, to)
    // What was lost by the clock here is left to its lease there.
    const lastLost = lock.lastLost.get(worker) ?? Number.NEGATIVE_INFINITY
    const leftToLease = isJava(worker) || this.killed.has(worker) || from - lastLost < LONGEST_LEASE * 1000
    if (leftToLease || this.disturbances.touching(worker, from, to).length > 0) lock.leftToLeaseUntil = to
    const key = `${name}|${field}`
    if (leftToLease || this.stuck.has(key)) return
    if (this.disturbances.quiet(worker, from, to) < KEPT_UNUSED_AFTER + lock.keptForMembers) return
    this.stuck.add(key)
    const what = `${name} has been kept unused for ${ms(to - from)} by ${field} of ${worker}`
    this.violation('held-unused', to, what, worker, lock, this.disturbances.arrivedLate(worker, from))
  }

  /** Looks at what only time can tell; to be called every now and then. */
  look(now: number): void {
    this.judgeExclusion(this.exclusion.look())
    const locks = [...this.locks.values()]
    for (const { waiter, waited } of this.stuckWaiters.look(locks, now)) {
      const what = `${who(waiter)} has waited for ${waiter.lock} for ${ms(waited)}`
      this.violation('stuck', now, what, waiter.worker)
    }
    for (const { lock, worker, since } of this.standstills.look(locks, now)) {
      const what = `no caller came into ${lock.name} for ${ms(now - since)} though ${worker} wants to`
      this.violation('standstill', now, what, worker, lock)
    }
    for (const share of this.shares.look(locks, now)) this.shared(share, now)
    for (const { refusal, worker } of this.complaints.look(now)) {
      const what = `${worker} could not publish for ${ms(refusal.to - refusal.from)} and raised no error event`
      this.violation('silent', now, what, worker, undefined, refusal)
    }
  }

  private shared(share: Share, now: number) {
    const { lock, worker, due, got, wanted, isStarved } = share
    this.tally.shared(share)
    if (!isStarved) return
    const percent = ((100 * got) / due).toFixed(1)
    const what =
      `${worker} got ${got} sections of ${lock} where ${due.toFixed(1)} were its share (${percent} %), ` +
      `in ${ms(wanted)} in which it wanted them and no fault touched it`
    this.violation('starved', now, what, worker, this.lock(lock))
  }

  violation(
    kind: ViolationKind,
    at: number,
    what: string,
    worker?: string,
    about?: { readonly name: string },
    cause?: Disturbance,
  ): void {
    const fault = cause ?? this.disturbances.latestBefore(at, worker)
    const records = this.violations.length > 20 ? [] : this.recent.of(about?.name)
    const first = this.first ?? at
    const context = contextOf(records, this.disturbances, first)
    const trace = traceOf(records, this.disturbances, { at, first })
    this.violations.push({ kind, what, fault: fault?.kind, afterMs: (at - first) / 1000, context, trace })
    this.tally.violated(fault)
    if (worker !== undefined) this.onViolation(kind, worker)
  }

  /** All records are in. */
  finish(): void {
    this.judgeExclusion([...this.exclusion.look(), ...this.exclusion.finish()])
    for (const { section, at, what, excused } of this.exclusion.lost()) {
      if (excused) this.tally.excusedLostUpdates++
      else this.violation('lost-update', at, what, section.worker, this.lock(section.lock))
    }
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
    section.inAt = record.at
    this.shares.entered(lock, section)
    lock.waiting.delete(key)
    lock.grants++
    // Readers that join readers pass no waiter.
    if (record.side !== 'r') lock.turns++
    lock.turnsBy.set(record.worker, (lock.turnsBy.get(record.worker) ?? 0) + 1)
    this.stuckWaiters.entered(lock)
    this.tally.entered(section)
    for (const other of lock.inside.values()) {
      // A caller that is about to release has nothing more to do inside.
      if (together(other.side, section.side) || other.outAt !== undefined) continue
      this.exclusion.met(other, section)
    }
    if (lock.freeSince !== undefined) this.tally.woken(lock, section)
    lock.freeSince = undefined
    lock.inside.set(key, section)
    const killedAt = this.killed.get(record.worker)
    if (killedAt !== undefined) this.endKilled(lock, key, section, killedAt)
  }

  private gaveUp(lock: LockState, record: EvidenceRecord) {
    const { worker, at, error } = record
    const since = lock.waiting.get(keyOf(record))?.wantAt ?? at
    lock.waiting.delete(keyOf(record))
    if (isJava(worker) || !error?.startsWith('REDIS_REFUSED')) return
    if (this.disturbances.isRefused(worker, since, at)) return
    this.violation('unexpected', at, `${worker} was refused though it had all rights: ${error}`, worker, lock)
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
    this.exclusion.wrote(section, record.value, lock.counter, record.at)
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

  private judgeExclusion(overlaps: ReturnType<Exclusion['look']>) {
    for (const overlap of overlaps) {
      const { first, second, verdict, cause } = overlap
      const lock = this.lock(first.lock)
      const context = () => contextOf(this.recent.of(lock.name), this.disturbances, this.first ?? 0)
      const sample = () => ({ first, second, context: context() })
      this.tally.overlapped(verdict, cause, sample)
      if (verdict === 'violation')
        this.violation('overlap', second.inAt, describeOverlap(overlap), first.worker, lock)
    }
  }
}
