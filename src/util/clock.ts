import { outsideRequests } from './async-context'
import { clearTimeout, dateNow, performanceNow, setTimeout } from './timers'

/** The longest delay in ms that `setTimeout` accepts. With a longer one it fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** A moment on both clocks. Monotonic time stops while the machine is suspended, and wall time can be set. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** An armed timer. A second `cancel()`, or one after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/**
 * The client's only source of time. It is a parameter of the internal client, so that tests can replace it.
 */
export interface Clock {
  now(): Moment
  /** Milliseconds since `moment`, by the clock that advanced further. */
  elapsedSince(moment: Moment): number
  /**
   * Calls back once after `delay` ms, which may be longer than `setTimeout` allows, outside any request and
   * logical thread. A timer never keeps the process alive.
   */
  after(delay: number, callback: () => void): Timer
}

class LongTimer implements Timer {
  private handle: NodeJS.Timeout | undefined

  constructor(
    private remaining: number,
    private readonly callback: () => void,
  ) {
    this.arm()
  }

  private readonly fire = () => {
    if (this.remaining > 0) this.arm()
    else this.callback()
  }

  private arm() {
    const delay = Math.min(this.remaining, LONGEST_TIMEOUT)
    this.remaining -= delay
    this.handle = outsideRequests(setTimeout, this.fire, delay)
    // Timers of a browser or of a test return a number, which has no `unref`.
    this.handle.unref?.()
  }

  cancel() {
    clearTimeout(this.handle)
  }
}

export const systemClock: Clock = {
  now: () => ({ monotonic: performanceNow(), wall: dateNow() }),
  elapsedSince: (moment) => Math.max(performanceNow() - moment.monotonic, dateNow() - moment.wall),
  after: (delay, callback) => new LongTimer(Math.max(0, Math.ceil(delay)), callback),
}
