/**
 * Java's `TimeUnit`, as an object, so that `tryLock(10, TimeUnit.SECONDS)` cannot be read as two numbers.
 */
export class TimeUnit {
  static readonly NANOSECONDS = new TimeUnit('NANOSECONDS', 1e-6)
  static readonly MICROSECONDS = new TimeUnit('MICROSECONDS', 1e-3)
  static readonly MILLISECONDS = new TimeUnit('MILLISECONDS', 1)
  static readonly SECONDS = new TimeUnit('SECONDS', 1000)
  static readonly MINUTES = new TimeUnit('MINUTES', 60_000)
  static readonly HOURS = new TimeUnit('HOURS', 3_600_000)
  static readonly DAYS = new TimeUnit('DAYS', 86_400_000)

  private constructor(
    readonly name: string,
    private readonly milliseconds: number,
  ) {
    Object.freeze(this)
  }

  /** `duration` of this unit in milliseconds, not rounded. */
  toMillis(duration: number): number {
    return duration * this.milliseconds
  }

  toString(): string {
    return this.name
  }
}
