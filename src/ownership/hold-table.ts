import { Mutex } from 'async-mutex'
import { type Bare, BareLevels } from './bare-levels'
import type { AnyHold, LevelOf } from './owned-hold'

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
    return !this.hold && !this.acquiring.isLocked() && this.bareLevels?.isEmpty !== false
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
    for (const _ of this.hold?.levels ?? []) return true
    return false
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
    return left && { within: left.bareIn!, level: left }
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
