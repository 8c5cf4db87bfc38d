import { Mutex } from 'async-mutex'
import type { OwnedLevel } from './owned-hold'

/** What the next `unlock()` of a caller ends. `level` is undefined for one that has ended: it is owed. */
export interface UnlockTarget<L extends OwnedLevel> {
  readonly among: BareLevels<L>
  readonly level: L | undefined
}

/**
 * The bare levels of one lock: those that `lock()` and `tryLock()` of one caller acquired, and that its
 * `unlock()` ends, one with each call. When that comes late, it must not end what was acquired since.
 *
 * | a level is | where it stands                     | what follows                                    |
 * | ---------- | ----------------------------------- | ----------------------------------------------- |
 * | acquiring  | counted; `bareIn` since its grant   | live; or owed, if it has ended before; or none  |
 * | live       | in a list, the oldest one first     | owed, if it expires or is lost; or `unlock()`   |
 * | owed       | counted, with the first loss        | `unlock()`, which rejects                       |
 */
export class BareLevels<L extends OwnedLevel> {
  /** In the order of their acquisition. */
  private readonly live: L[] = []
  /** Those of them that were held when another acquisition of their caller failed. */
  private besideFailed: Set<L> | undefined
  private acquiring = 0
  private owed = 0
  /** The loss of a level whose `unlock()` is owed. An explicit lease that ends is none. Only read it. */
  loss: unknown

  /** `entry`: where it belongs, which learns that a level or an acquisition of it has ended. */
  constructor(private readonly entry?: { somethingEnded(): void }) {}

  get hasLive(): boolean {
    return this.live.length > 0
  }

  /** Whether a call is acquiring a level of it. */
  get isAcquiring(): boolean {
    return this.acquiring > 0
  }

  get isInUse(): boolean {
    return this.hasLive || this.isAcquiring
  }

  /** Whether the `unlock()` of a level that has ended is still to come. */
  get owes(): boolean {
    return this.owed > 0
  }

  /** An acquisition of a level of it has begun. */
  begin(): void {
    this.acquiring++
  }

  /**
   * That acquisition is over. Its level belongs to this list since the grant, and may have ended meanwhile.
   * Also after an aborted `lock()` an `unlock()` in `finally` may come.
   */
  end(level: L | undefined): void {
    this.acquiring--
    if (level?.bareIn === this) return void this.live.push(level)
    if (!level && this.live.length > 0) this.besideFailed = new Set(this.live)
    this.entry?.somethingEnded()
  }

  /** Whether another acquisition of this caller has failed while this level was held. */
  hasFailedBeside(level: L): boolean {
    return this.besideFailed?.has(level) === true
  }

  /** The level has ended without an `unlock()`. */
  ended(level: L, loss?: unknown): void {
    if (!this.drop(level)) return
    this.owed++
    this.loss ??= loss
  }

  /** The `unlock()` of this level has come. */
  unlocked(level: L): void {
    this.drop(level)
    this.entry?.somethingEnded()
  }

  /**
   * An `unlock()` that was owed has come. Returns the loss that it has to report: none where only leases
   * ended, or where another level is live.
   */
  settleOwed(): unknown {
    const { loss, hasLive } = this
    if (--this.owed === 0) this.loss = undefined
    this.entry?.somethingEnded()
    return hasLive ? undefined : loss
  }

  private drop(level: L): boolean {
    if (level.bareIn !== this) return false
    level.bareIn = undefined
    this.besideFailed?.delete(level)
    const at = this.live.indexOf(level)
    if (at >= 0) this.live.splice(at, 1)
    return true
  }

  /**
   * For a caller that does one thing after the other: its newest living level or, without any, what it owes.
   */
  newestFirst(): UnlockTarget<L> | undefined {
    // A level that finds its end leaves the list, or is just telling a listener, which called this. A single
    // one is not asked: its release tells why.
    for (const each of [...this.live].reverse()) if (this.live.length === 1 || each.checkLive()) break
    const level = this.live.at(-1)
    return level || this.owed > 0 ? { among: this, level } : undefined
  }

  /**
   * For callers that nothing distinguishes: what is owed, or else the level whose time is over first. So what
   * stays lasts as long as each of them needs.
   */
  owedFirst(): UnlockTarget<L> | undefined {
    // A level that notices its end leaves the list.
    for (const level of [...this.live]) level.checkLive()
    if (this.owed > 0) return { among: this, level: undefined }
    let [first] = this.live
    for (const level of this.live) if (level.timeLeft < first!.timeLeft) first = level
    return first && { among: this, level: first }
  }
}

/** What one caller has of one lock: the hold that its next acquisition re-enters, and its bare levels. */
export class HoldEntry<L extends OwnedLevel = OwnedLevel> {
  /** The engine sets it where an acquisition was granted a new hold. Only this class clears it. */
  hold: L['hold'] | undefined
  readonly bare = new BareLevels<L>(this)
  /** Locked while an acquisition of a caller with a scope is in flight: it has one at a time. */
  private readonly entering = new Mutex()

  constructor(
    private readonly table: HoldTable<L>,
    private readonly key: string,
  ) {}

  /** An acquisition begins. False: one is in flight. */
  enter(): boolean {
    if (this.entering.isLocked()) return false
    // It is free, so this locks it at once.
    void this.entering.acquire()
    return true
  }

  /** The acquisition is over. */
  leave(): void {
    this.entering.release()
    this.somethingEnded()
  }

  /** Resolves when no acquisition is in flight; undefined if there is none. */
  acquisitionInFlight(): Promise<void> | undefined {
    return this.entering.isLocked() ? this.entering.waitForUnlock() : undefined
  }

  /**
   * What an `unlock()` ends: the newest bare level of this caller, or else a level that an ended thread left
   * in its hold.
   */
  newestFirst(): UnlockTarget<L> | undefined {
    const own = this.bare.newestFirst()
    if (own || !this.hold) return own
    const left = ([...this.hold.levels] as L[]).findLast(
      ({ bareIn, thread }) => bareIn && thread && !thread.isAlive,
    )
    return left && { among: left.bareIn as BareLevels<L>, level: left }
  }

  /** Its hold was released or has expired, so its caller can acquire again. */
  forget(hold: L['hold']): void {
    if (this.hold === hold) this.hold = undefined
    this.somethingEnded()
  }

  /**
   * A level or an acquisition of it has ended. A hold that was lost stays until each of its levels had its
   * `unlock()`.
   */
  somethingEnded(): void {
    if (!this.hasLevels && !this.bare.owes) this.hold = undefined
    this.table.keepIfNeeded(this.key)
  }

  private get hasLevels(): boolean {
    return this.hold !== undefined && this.hold.levels.size > 0
  }

  /** Its caller holds or acquires something. */
  get isInUse(): boolean {
    return this.hasLevels || this.bare.isInUse || this.entering.isLocked()
  }
}

/** For how many locks a table keeps that its callers owe an `unlock()`. Some never call it. */
const MOST_OWING = 10_000

/** The entries of one caller, or of several callers under different keys. */
export class HoldTable<L extends OwnedLevel = OwnedLevel> {
  private readonly entries = new Map<string, HoldEntry<L>>()
  /** The keys of entries that only owe, in the order in which their holds ended. */
  private readonly owing = new Set<string>()

  get(key: string): HoldEntry<L> | undefined {
    return this.entries.get(key)
  }

  getOrCreate(key: string): HoldEntry<L> {
    let entry = this.entries.get(key)
    if (!entry) {
      entry = new HoldEntry(this, key)
      this.entries.set(key, entry)
    }
    return entry
  }

  /** Something of this entry has ended. An entry without a use goes; one that only owes may go later. */
  keepIfNeeded(key: string): void {
    const entry = this.entries.get(key)
    this.owing.delete(key)
    if (!entry || entry.isInUse) return
    if (entry.bare.owes) this.owing.add(key)
    else this.entries.delete(key)
    if (this.owing.size <= MOST_OWING) return
    const [oldest] = this.owing
    this.owing.delete(oldest!)
    if (!this.entries.get(oldest!)?.isInUse) this.entries.delete(oldest!)
  }
}
