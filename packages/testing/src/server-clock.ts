import {
  type Clock,
  dateNow,
  type Moment,
  outsideRequests,
  performanceNow,
  systemClock,
  type Timer,
} from 'rlock/internal'

/** How often a timer reads the clock of the test, in ms. */
const LOOK_AGAIN = 10

/** The clock of an in-memory server and its clients: the real time, or that of a function, plus the time of `advance`. */
export class ServerClock implements Clock {
  private added = 0
  private readonly armed = new Set<ArmedTimer>()
  private readonly flowing: () => number

  /** `given`: the time in ms, for tests that have a clock of their own. */
  constructor(private readonly given: (() => number) | undefined) {
    const [wall, monotonic] = [dateNow(), performanceNow()]
    this.flowing = given ?? (() => wall + performanceNow() - monotonic)
  }

  /** In ms, with a fraction. */
  get time(): number {
    return this.flowing() + this.added
  }

  now(): Moment {
    const { time } = this
    return { monotonic: time, wall: time }
  }

  elapsedSince(moment: Moment): number {
    return this.time - moment.monotonic
  }

  after(delay: number, callback: () => void): Timer {
    const longest = this.given ? LOOK_AGAIN : Number.POSITIVE_INFINITY
    return new ArmedTimer(this, this.armed, this.time + Math.max(0, delay), longest, callback)
  }

  /**
   * Advances the time by this many ms, from one timer to the next. `settled` resolves when the commands that a timer caused
   * are done, as far as the server knows.
   */
  async advance(ms: number, settled: () => Promise<void>): Promise<void> {
    const end = this.time + ms
    await settled()
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      this.reach(next.due)
      next.fire()
      await settled()
    }
    this.reach(end)
  }

  private reach(time: number) {
    this.added += Math.max(0, time - this.time)
  }

  private nextUntil(end: number): ArmedTimer | undefined {
    let next: ArmedTimer | undefined
    for (const timer of this.armed)
      if (timer.due <= end && (next === undefined || timer.due < next.due)) next = timer
    return next
  }
}

class ArmedTimer implements Timer {
  private real: Timer | undefined

  constructor(
    private readonly clock: ServerClock,
    private readonly armed: Set<ArmedTimer>,
    readonly due: number,
    private readonly longest: number,
    private readonly callback: () => void,
  ) {
    armed.add(this)
    this.arm()
  }

  private arm() {
    const remaining = Math.max(0, this.due - this.clock.time)
    this.real = systemClock.after(Math.min(remaining, this.longest), () => {
      if (this.due > this.clock.time) this.arm()
      else this.fire()
    })
  }

  fire(): void {
    this.cancel()
    outsideRequests(this.callback)
  }

  cancel(): void {
    this.armed.delete(this)
    this.real?.cancel()
  }
}
