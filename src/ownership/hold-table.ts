import { Mutex } from 'async-mutex'
import type { AnyHold, LevelOf, OwnedLevel } from './owned-hold'

/** What the next `unlock()` of a caller ends. `level` is undefined where it has ended already. */
export interface Bare<L extends OwnedLevel> {
  readonly within: BareLevels<L>
  readonly level: L | undefined
}

/**
 * The levels of one lock that `lock()` and `tryLock()` of one caller acquired, and that no `unlock()` has
 * ended. Each `unlock()` of the caller ends one of them. A level that has expired or was lost leaves the
 * list, and its `unlock()` is owed: when that comes late, it must not end what was acquired since.
 */
export class BareLevels<L extends OwnedLevel> {
  /** In the order of their acquisition. */
  private readonly live: L[] = []
  private owed = 0
  /** How many calls are acquiring a level of it. */
  acquiring = 0
  /** The loss of a level whose `unlock()` is owed. An explicit lease that ends is none. */
  loss: unknown

  constructor(private readonly whenEmpty?: () => void) {}

  /** An `unlock()` finds nothing to end. */
  get isEmpty(): boolean {
    return !this.hasLive && this.owed === 0
  }

  get isUnused(): boolean {
    return this.isEmpty && this.acquiring === 0
  }

  get hasLive(): boolean {
    return this.live.length > 0
  }

  /** The level has ended without an `unlock()`. */
  ended(level: L, loss?: unknown): void {
    if (!this.drop(level)) return
    this.owed++
    this.loss ??= loss
  }

  /** The `unlock()` of this level has come. */
  remove(level: L): void {
    this.drop(level)
    this.tidy()
  }

  /** The `unlock()` of a level has come that had ended. */
  payOwed(): void {
    if (--this.owed === 0) this.loss = undefined
    this.tidy()
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
    if (level?.bareIn === this) this.live.push(level)
    if (level) return
    for (const { hold } of this.live) hold.hasFailedBeside = true
    this.tidy()
  }

  private tidy() {
    if (this.isUnused) this.whenEmpty?.()
  }

  /** A level that notices its end leaves the list. */
  private endOverdue() {
    for (const level of [...this.live]) level.checkLive()
  }

  private drop(level: L): boolean {
    if (level.bareIn !== this) return false
    level.bareIn = undefined
    const at = this.live.indexOf(level)
    if (at >= 0) this.live.splice(at, 1)
    return true
  }

  /** For a caller that does one thing after the other: its newest level or, without any, what it owes. */
  newest(): Bare<L> | undefined {
    // The release of a single one tells why it ended.
    if (this.live.length > 1) this.endOverdue()
    const level = this.live.at(-1)
    return level || this.owed > 0 ? { within: this, level } : undefined
  }

  /**
   * For callers that nothing distinguishes: what is owed, or else the level whose time is over first. So what
   * stays lasts as long as each of them needs.
   */
  owedFirst(): Bare<L> | undefined {
    this.endOverdue()
    if (this.owed > 0) return { within: this, level: undefined }
    let [first] = this.live
    for (const level of this.live) if (level.timeLeft < first!.timeLeft) first = level
    return first && { within: this, level: first }
  }
}

/**
 * The state of one caller and one lock. The table drops it when the caller neither has nor acquires anything
 * of the lock.
 */
export class HoldEntry<H extends AnyHold = AnyHold> {
  /** The hold that the next acquisition re-enters. */
  hold: H | undefined
  /** Locked while an acquisition of its caller is in flight. */
  private readonly acquiring = new Mutex()
  private bareLevels: BareLevels<LevelOf<H>> | undefined

  constructor(
    readonly table: HoldTable<H>,
    readonly key: string,
  ) {}

  /** Nothing needs it any more. */
  get isEmpty(): boolean {
    return !this.hold && !this.acquiring.isLocked() && this.bareLevels?.isUnused !== false
  }

  /** Nothing of it is held: its caller owes an `unlock()`. */
  get onlyOwes(): boolean {
    return !this.hasLevels && !this.acquiring.isLocked() && !this.bareLevels?.hasLive
  }

  /** What its `unlock()` ends. */
  get bare(): BareLevels<LevelOf<H>> {
    this.bareLevels ??= new BareLevels(() => this.settle())
    return this.bareLevels
  }

  private get hasLevels(): boolean {
    return this.hold !== undefined && this.hold.levels.size > 0
  }

  /** The loss of a level that its caller has not settled yet. */
  get loss(): unknown {
    return this.bareLevels?.loss
  }

  /** Begins an acquisition. False: one is in flight, and a caller has one acquisition of a lock at a time. */
  begin(): boolean {
    if (this.acquiring.isLocked()) return false
    // It is free, so this locks it at once.
    void this.acquiring.acquire()
    return true
  }

  /** The acquisition is over. */
  end(): void {
    this.acquiring.release()
    this.table.tidy(this.key)
  }

  /** Resolves when no acquisition is in flight; undefined if there is none. */
  settled(): Promise<void> | undefined {
    return this.acquiring.isLocked() ? this.acquiring.waitForUnlock() : undefined
  }

  /** The hold was released or has expired, so its caller can acquire again. */
  forget(hold: H): void {
    if (this.hold !== hold) return
    this.hold = undefined
    this.table.tidy(this.key)
  }

  /** A hold that was lost stays until each of its levels had its `unlock()`. */
  settle(): void {
    if (!this.hasLevels && this.bareLevels?.isEmpty !== false) this.hold = undefined
    this.table.tidy(this.key)
  }

  /**
   * The level that an `unlock()` of this caller ends: its own, or else one that an ended thread left in its
   * hold.
   */
  bareLevel(): Bare<LevelOf<H>> | undefined {
    const own = this.bareLevels?.newest()
    if (own || !this.hold) return own
    const left = ([...this.hold.levels] as LevelOf<H>[]).findLast(
      ({ bareIn, thread }) => bareIn && thread && !thread.isAlive,
    )
    return left && { within: left.bareIn as BareLevels<LevelOf<H>>, level: left }
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

  /** Something of this entry has ended. */
  tidy(key: string): void {
    const entry = this.entries.get(key)
    this.owing.delete(key)
    if (entry?.isEmpty) this.entries.delete(key)
    else if (entry?.onlyOwes) this.owing.add(key)
    if (this.owing.size <= MOST_OWING) return
    const [oldest] = this.owing
    this.owing.delete(oldest!)
    if (this.entries.get(oldest!)?.onlyOwes) this.entries.delete(oldest!)
  }
}
