import type { LogicalThread } from './logical-thread'

// Symbols, because a level may be an object of the caller.

/** For how long a level is still held, in ms; Infinity: until its release; 0: it has ended. */
export const TIME_LEFT: unique symbol = Symbol('timeLeft')
/** The method of a level that is called when no `unlock()` will end it any more: releases what is left of it. */
export const ABANDON: unique symbol = Symbol('abandon')

/** One acquisition within a hold. */
export interface OwnedLevel {
  readonly hold: { readonly holder: string }
  /** The logical thread that acquired it; undefined for a caller without one. */
  readonly thread: LogicalThread | undefined
  /** The levels among which an `unlock()` finds it; undefined: only its LockHold or its `withLock` releases it. */
  bareIn: AnyBareLevels | undefined
  readonly [TIME_LEFT]: number
  [ABANDON]?(): void
}

// biome-ignore lint/suspicious/noExplicitAny: a level does not care what the others are.
type AnyBareLevels = BareLevels<any>

/** What the next `unlock()` of a caller ends. `level` is undefined where it ended so long ago that it was forgotten. */
export interface Bare<L extends OwnedLevel> {
  readonly within: BareLevels<L>
  readonly level: L | undefined
}

/** How many ended levels are kept. The list is bounded, because some callers never call `unlock()`. */
const REMEMBERED = 100

/**
 * The levels of one lock that `lock()` and `tryLock()` of one caller acquired, and that no `unlock()` has ended. Each `unlock()`
 * of the caller ends one of them, also one whose lease has ended or that was lost: a late `unlock()` must not end what was
 * acquired since.
 */
export class BareLevels<L extends OwnedLevel> implements Iterable<L> {
  /** In the order of their acquisition. */
  private levels: L[] = []
  private forgotten = 0
  /** With so many levels, `add` looks which of them have ended. */
  private nextLookAt = REMEMBERED

  constructor(private readonly whenEmpty?: () => void) {}

  get isEmpty(): boolean {
    return this.levels.length === 0 && this.forgotten === 0
  }

  [Symbol.iterator](): Iterator<L> {
    return this.levels.values()
  }

  add(level: L): void {
    level.bareIn = this
    this.levels.push(level)
    if (this.levels.length < this.nextLookAt) return
    this.forgetEnded(REMEMBERED)
    this.nextLookAt = 2 * this.levels.length + REMEMBERED
  }

  /** Keeps so many of those that have ended, and of the others the number. */
  forgetEnded(remembered = 0): void {
    const ended = [...this.levels].filter(({ [TIME_LEFT]: left }) => left <= 0)
    for (const each of ended.slice(0, Math.max(0, ended.length - remembered))) {
      if (each.bareIn !== this) continue
      this.forgotten++
      this.remove(each)
      each[ABANDON]?.()
    }
  }

  /** An `unlock()` ends this level, or one that was forgotten. */
  remove(level: L | undefined): void {
    if (level) {
      if (level.bareIn !== this) return
      level.bareIn = undefined
      this.levels.splice(this.levels.indexOf(level), 1)
    } else this.forgotten--
    if (this.isEmpty) this.whenEmpty?.()
  }

  /** For a caller that does one thing after the other: its newest level, or else the newest one that an ended thread left. */
  newest(caller: LogicalThread | undefined): Bare<L> | undefined {
    const { levels } = this
    const own = levels.findLast(({ thread }) => thread === caller)
    return this.found(own ?? levels.findLast(({ thread }) => !thread?.isAlive))
  }

  /**
   * For callers that nothing distinguishes: a level that has ended, or else the one whose time is over first. So what stays
   * lasts as long as each of them needs.
   */
  endedFirst(isWanted: (level: L) => boolean): Bare<L> | undefined {
    const wanted = this.levels.filter(isWanted)
    const timesLeft = wanted.map((level) => level[TIME_LEFT])
    // A loss that this has just noticed runs listeners, and one of them may have called `unlock()`.
    if (wanted.some(({ bareIn }) => bareIn !== this)) return this.endedFirst(isWanted)
    const least = timesLeft.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
    return this.found(least > 0 && this.forgotten > 0 ? undefined : wanted[timesLeft.indexOf(least)])
  }

  private found(level: L | undefined): Bare<L> | undefined {
    return level || this.forgotten > 0 ? { within: this, level } : undefined
  }
}
