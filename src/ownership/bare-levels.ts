import type { LogicalThread } from './logical-thread'

/**
 * For how long a level is still held, in ms; Infinity: until its release; 0: it has ended. A symbol, because
 * a level may be an object of the caller.
 */
export const TIME_LEFT: unique symbol = Symbol('timeLeft')

/** One acquisition within a hold. */
export interface OwnedLevel {
  readonly hold: { readonly holder: string; hasFailedBeside: boolean }
  /** The logical thread that acquired it; undefined for a caller without one. */
  readonly thread: LogicalThread | undefined
  /**
   * The levels among which an `unlock()` finds it; undefined: it has ended, or only its LockHold or
   * `withLock` releases it.
   */
  bareIn: AnyBareLevels | undefined
  readonly [TIME_LEFT]: number
  /** Of a level over several locks, which may learn of its end only when it is asked. */
  readonly isHeld?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a level does not care what the others are.
type AnyBareLevels = BareLevels<any>

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
  /** The loss of a level whose `unlock()` is owed. An explicit lease that ends is none. */
  loss: unknown

  constructor(private readonly whenEmpty?: () => void) {}

  get isEmpty(): boolean {
    return !this.hasLive && this.owed === 0
  }

  get hasLive(): boolean {
    return this.live.length > 0
  }

  [Symbol.iterator](): Iterator<L> {
    return this.live.values()
  }

  add(level: L): void {
    level.bareIn = this
    this.live.push(level)
  }

  /** The level has ended without an `unlock()`. */
  ended(level: L, loss?: unknown): void {
    if (!this.drop(level)) return
    this.owed++
    this.loss ??= loss
  }

  /** The `unlock()` of this level has come; undefined: that of one that had ended. */
  remove(level: L | undefined): void {
    if (level) this.drop(level)
    else if (--this.owed === 0) this.loss = undefined
    this.tidy()
  }

  tidy(): void {
    if (this.isEmpty) this.whenEmpty?.()
  }

  private drop(level: L): boolean {
    if (level.bareIn !== this) return false
    level.bareIn = undefined
    this.live.splice(this.live.indexOf(level), 1)
    return true
  }

  /** For a caller that does one thing after the other: its newest level or, without any, what it owes. */
  newest(): Bare<L> | undefined {
    let level = this.live.at(-1)
    for (; level?.isHeld === false; level = this.live.at(-1)) this.ended(level)
    return level || this.owed > 0 ? { within: this, level } : undefined
  }

  /**
   * For callers that nothing distinguishes: what is owed, or else the level whose time is over first. So what
   * stays lasts as long as each of them needs.
   */
  owedFirst(): Bare<L> | undefined {
    // A loss that this notices runs listeners, and one of them may call `unlock()`.
    for (const level of [...this.live]) if (level[TIME_LEFT] <= 0) this.ended(level)
    if (this.owed > 0) return { within: this, level: undefined }
    let [first] = this.live
    for (const level of this.live) if (level[TIME_LEFT] < first![TIME_LEFT]) first = level
    return first && { within: this, level: first }
  }
}
