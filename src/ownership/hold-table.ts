import { Mutex } from 'async-mutex'
import type { AnyHold, LevelOf, OwnedLevel } from './owned-hold'

/** What the next `unlock()` of a caller ends. `level` is undefined for one that has ended: it is owed. */
export interface UnlockTarget<L extends OwnedLevel> {
  readonly among: BareLevels<L>
  readonly level: L | undefined
}

/** The levels that were held when another acquisition of their caller failed. */
const failedBeside = new WeakSet<OwnedLevel>()

/**
 * The bare levels of one lock: those that `lock()` and `tryLock()` of one caller acquired, and that its
 * `unlock()` ends, one with each call. A level that has expired or was lost leaves the list, and its
 * `unlock()` is owed: when that comes late, it must not end what was acquired since.
 */
export class BareLevels<L extends OwnedLevel> {
  /** In the order of their acquisition. */
  private readonly live: L[] = []
  protected owed = 0
  /** How many calls are acquiring a level of it. */
  acquiring = 0
  /** The loss of a level whose `unlock()` is owed. An explicit lease that ends is none. */
  loss: unknown

  get hasLive(): boolean {
    return this.live.length > 0
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
    if (!level) for (const each of this.live) failedBeside.add(each)
    this.tidy()
  }

  /** Whether another acquisition of this caller has failed while this level was held. */
  hasFailedBeside(level: L): boolean {
    return failedBeside.has(level)
  }

  /** The level has ended without an `unlock()`. */
  ended(level: L, loss?: unknown): void {
    if (!this.drop(level)) return
    this.owed++
    this.loss ??= loss
  }

  /** The `unlock()` of this level has come; undefined: the one that was owed. */
  unlocked(level: L | undefined): void {
    if (level) this.drop(level)
    else if (--this.owed === 0) this.loss = undefined
    this.tidy()
  }

  private drop(level: L): boolean {
    if (level.bareIn !== this) return false
    level.bareIn = undefined
    const at = this.live.indexOf(level)
    if (at >= 0) this.live.splice(at, 1)
    return true
  }

  /**
   * For a caller that does one thing after the other: its newest living level or, without any, what it owes.
   */
  newestFirst(): UnlockTarget<L> | undefined {
    // A level that notices its end leaves the list. The release of a single one tells why it ended.
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

  /** Something of it has ended. */
  protected tidy(): void {}
}

/** What one caller has of one lock: its bare levels, and the hold that its next acquisition re-enters. */
export class HoldEntry<H extends AnyHold = AnyHold> extends BareLevels<LevelOf<H>> {
  hold: H | undefined
  /** Locked while an acquisition of a caller with a scope is in flight: it has one at a time. */
  private readonly entering = new Mutex()

  constructor(
    private readonly table: HoldTable<H>,
    private readonly key: string,
  ) {
    super()
  }

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
    this.tidy()
  }

  /** Resolves when no acquisition is in flight; undefined if there is none. */
  settled(): Promise<void> | undefined {
    return this.entering.isLocked() ? this.entering.waitForUnlock() : undefined
  }

  /** As above, or else a level that an ended thread left in the hold of this caller. */
  override newestFirst(): UnlockTarget<LevelOf<H>> | undefined {
    const own = super.newestFirst()
    if (own || !this.hold) return own
    const left = ([...this.hold.levels] as LevelOf<H>[]).findLast(
      ({ bareIn, thread }) => bareIn && thread && !thread.isAlive,
    )
    return left && { among: left.bareIn as BareLevels<LevelOf<H>>, level: left }
  }

  /** The hold was released or has expired, so its caller can acquire again. */
  forget(hold: H): void {
    if (this.hold === hold) this.hold = undefined
    this.table.tidy(this.key)
  }

  /** A hold that was lost stays until each of its levels had its `unlock()`. */
  override tidy(): void {
    if (!this.hasLevels && this.owed === 0) this.hold = undefined
    this.table.tidy(this.key)
  }

  private get hasLevels(): boolean {
    return this.hold !== undefined && this.hold.levels.size > 0
  }

  /** Its caller holds or acquires something. */
  get isInUse(): boolean {
    return this.hasLevels || this.hasLive || this.acquiring > 0 || this.entering.isLocked()
  }

  get owes(): boolean {
    return this.owed > 0
  }
}

/** For how many locks a table keeps that its callers owe an `unlock()`. Some never call it. */
const MOST_OWING = 10_000

/** The entries of one caller, or of several callers under different keys. */
export class HoldTable<H extends AnyHold = AnyHold> {
  private readonly entries = new Map<string, HoldEntry<H>>()
  /** The keys of entries that only owe, in the order in which their holds ended. */
  private readonly owing = new Set<string>()

  get(key: string): HoldEntry<H> | undefined {
    return this.entries.get(key)
  }

  getOrCreate(key: string): HoldEntry<H> {
    let entry = this.entries.get(key)
    if (!entry) {
      entry = new HoldEntry(this, key)
      this.entries.set(key, entry)
    }
    return entry
  }

  /** Something of this entry has ended. Without a use it goes; one that only owes may go later. */
  tidy(key: string): void {
    const entry = this.entries.get(key)
    this.owing.delete(key)
    if (!entry || entry.isInUse) return
    if (entry.owes) this.owing.add(key)
    else this.entries.delete(key)
    if (this.owing.size <= MOST_OWING) return
    const [oldest] = this.owing
    this.owing.delete(oldest!)
    if (!this.entries.get(oldest!)?.isInUse) this.entries.delete(oldest!)
  }
}
