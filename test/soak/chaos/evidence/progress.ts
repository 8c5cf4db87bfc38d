import { LONGEST_LEASE } from '../plan/catalogue'
import type { Plans } from '../plan/objects'
import type { Disturbances } from './disturbances'
import type { EvidenceRecord } from './records'
import { begun, isJava, keyOf, LockState, ms, type Section } from './sections'
import { type Share, Shares, Standstills } from './shares'
import type { Tally } from './tally'

/** No Java hold that is released lasts for so long (µs), and for so many turns. */
const KEPT_BY_JAVA = 5_000_000
const TURNS_KEPT_BY_JAVA = 20
/** What is left of a hold that was lost, or of a process that was killed, is gone after so long (µs). */
const LEFT_TO_LEASE = 12_000_000
/** A multi lock waits so long (µs) for its next member while it keeps others: docs/guides/multi-lock.md. */
const LONGEST_WAIT_FOR_MEMBERS = 5_000_000

interface Slowness {
  readonly kind: 'starved' | 'standstill'
  readonly what: string
  readonly worker: string
}

/** Who waits for each lock and who comes in, for what only real time tells: shares of processes, standstills, figures. */
export class Progress {
  private readonly locks = new Map<string, LockState>()
  private readonly killedAt = new Map<string, number>()
  private readonly shares: Shares
  private readonly standstills: Standstills
  /** Locks whose keys nothing looks at: a hold that is left to its lease shows by its records alone. */
  private readonly unwatched: readonly string[]

  constructor(
    { objects }: Plans,
    private readonly disturbances: Disturbances,
    private readonly tally: Tally,
  ) {
    this.shares = new Shares(disturbances)
    this.standstills = new Standstills(disturbances)
    this.unwatched = objects.filter(({ kind }) => kind === 'multi').map(({ name }) => name)
    for (const name of this.unwatched) this.lock(name).ofSeveral = true
    for (const plan of objects)
      if (plan.kind === 'multi')
        for (const name of plan.groups.flat()) this.lock(name).keptForMembers = LONGEST_WAIT_FOR_MEMBERS
  }

  record(record: EvidenceRecord): void {
    const lock = this.lock(record.lock)
    const key = keyOf(record)
    const { event, at, worker } = record
    const isLeft = event === 'lost' || (event === 'free' && !record.ok) || (event === 'quit' && record.error)
    if (isLeft && this.unwatched.includes(lock.name)) lock.leftToLeaseUntil = at + LEFT_TO_LEASE
    if (event === 'want' && !this.killedAt.has(worker)) lock.waiting.set(key, begun(record))
    if (event === 'quit') lock.waiting.delete(key)
    if (event === 'in') this.entered(lock, record)
    if (event === 'free') this.freed(lock, record)
    const section = event === 'lost' ? lock.inside.get(key) : undefined
    if (!section || section.lostAt !== undefined) return
    section.lostAt = at
    lock.lastLost.set(worker, at)
    this.tally.lost(section)
  }

  killed(worker: string, at: number): void {
    this.killedAt.set(worker, at)
    for (const name of this.unwatched) this.lock(name).leftToLeaseUntil = at + LEFT_TO_LEASE
    for (const { inside, waiting } of this.locks.values())
      for (const sections of [inside, waiting])
        for (const [key, section] of sections) if (section.worker === worker) sections.delete(key)
  }

  look(now: number): Slowness[] {
    const locks = [...this.locks.values()]
    const standing = this.standstills.look(locks, now).map(({ lock, worker, since }): Slowness => {
      const what = `no caller came into ${lock.name} for ${ms(now - since)} though ${worker} wants to`
      return { kind: 'standstill', what, worker }
    })
    return [...standing, ...this.shares.look(locks, now).flatMap((share) => this.shared(share))]
  }

  /** Whether the worker was killed, or a fault has touched it just now. */
  isAway(worker: string, at: number): boolean {
    return this.killedAt.has(worker) || this.disturbances.touching(worker, at - 2_000_000, at).length > 0
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
    this.shares.forget(lock, from)
    this.tally.doubleCountsOfJava.add(`${name} ${field}`)
  }

  /** The lock's key has had an owner of this worker from one moment to another, with no caller inside. */
  keyKept(name: string, worker: string, from: number, to: number): void {
    const lock = this.lock(name)
    // It is not free, whichever caller was the last to release it.
    if (lock.freeSince !== undefined) lock.freeSince = to
    this.tally.keptUnused(worker, from, to)
    // What was lost by the clock here is left to its lease there.
    const lastLost = lock.lastLost.get(worker) ?? Number.NEGATIVE_INFINITY
    const leftToLease = isJava(worker) || this.killedAt.has(worker) || from - lastLost < LONGEST_LEASE * 1000
    if (leftToLease || this.disturbances.touching(worker, from, to).length > 0) lock.leftToLeaseUntil = to
  }

  lock(name: string): LockState {
    let lock = this.locks.get(name)
    if (!lock) {
      lock = new LockState(name)
      this.locks.set(name, lock)
    }
    return lock
  }

  private shared(share: Share): Slowness[] {
    const { lock, worker, due, got, wanted, isStarved } = share
    this.tally.shared(share)
    if (!isStarved) return []
    const percent = ((100 * got) / due).toFixed(1)
    const what =
      `${worker} got ${got} sections of ${lock} where ${due.toFixed(1)} were its share (${percent} %), ` +
      `in ${ms(wanted)} in which it wanted them and no fault touched it`
    return [{ kind: 'starved', what, worker }]
  }

  private entered(lock: LockState, record: EvidenceRecord) {
    const key = keyOf(record)
    const section: Section = lock.waiting.get(key) ?? begun(record)
    section.inAt = record.at
    this.shares.entered(lock, section)
    lock.waiting.delete(key)
    lock.grants++
    lock.turnsBy.set(record.worker, (lock.turnsBy.get(record.worker) ?? 0) + 1)
    this.tally.entered(section)
    if (lock.freeSince !== undefined) this.tally.woken(lock, section)
    lock.freeSince = undefined
    if (!this.killedAt.has(record.worker)) lock.inside.set(key, section)
  }

  private freed(lock: LockState, record: EvidenceRecord) {
    lock.inside.delete(keyOf(record))
    // How fast Java's waiters wake is Java's affair.
    const somebodyWaits = [...lock.waiting.values()].some(({ worker }) => !isJava(worker))
    lock.freeSince = record.ok && !lock.isInside() && somebodyWaits ? record.at : undefined
  }
}
