import { outsideRequests } from '../util/async-context'
import { type Clock, type Moment, systemClock, type Timer } from '../util/clock'
import { dateNow, performanceNow } from '../util/timers'

/** How often a clock of the test is asked whether the time of a timer has come. */
const LOOK_AGAIN = 10

/** The clock of an in-memory server and of its clients: real time or that of a function, and what `advance` added. */
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
   * Lets so many ms go by, from one timer to the next. `settled` resolves when all that a timer has set going is done,
   * as far as that can be known.
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
