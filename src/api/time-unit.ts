/** Marks the units of every copy of the package in the process: each copy has a class of its own. */
const BRAND = Symbol.for('rlock.time-unit')

/**
 * Java's `TimeUnit`, as an object, so that `tryLock(10, TimeUnit.SECONDS)` cannot be read as two numbers.
 *
 * @example
 * ```ts
 * import { TimeUnit } from 'rlock'
 * TimeUnit.SECONDS.toMillis(2) // → 2000
 * ```
 */
export class TimeUnit {
  /** A millionth of a millisecond. */
  static readonly NANOSECONDS = new TimeUnit('NANOSECONDS', 1e-6)
  /** A thousandth of a millisecond. */
  static readonly MICROSECONDS = new TimeUnit('MICROSECONDS', 1e-3)
  /** What plain numbers are. */
  static readonly MILLISECONDS = new TimeUnit('MILLISECONDS', 1)
  /** 1000 ms. */
  static readonly SECONDS = new TimeUnit('SECONDS', 1000)
  /** 60 s. */
  static readonly MINUTES = new TimeUnit('MINUTES', 60_000)
  /** 60 min. */
  static readonly HOURS = new TimeUnit('HOURS', 3_600_000)
  /** 24 h. */
  static readonly DAYS = new TimeUnit('DAYS', 86_400_000)

  /** `duration` of this unit in milliseconds, not rounded. */
  readonly toMillis: (duration: number) => number

  // No private field: with one the types of two copies of the package would exclude each other.
  private constructor(
    /** As in Java: `SECONDS`. */
    readonly name: string,
    milliseconds: number,
  ) {
    this.toMillis = (duration) => duration * milliseconds
    Object.defineProperty(this, BRAND, { value: true })
    Object.freeze(this)
  }

  /** A unit of another copy of the package is one as well. */
  static [Symbol.hasInstance](value: unknown): value is TimeUnit {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /** Its name. */
  toString(): string {
    return this.name
  }
}
