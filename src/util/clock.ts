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

export const systemClock: Clock = {
  now: () => ({ monotonic: performanceNow(), wall: dateNow() }),
  elapsedSince: (moment) => Math.max(performanceNow() - moment.monotonic, dateNow() - moment.wall),
  after(delay, callback) {
    let handle: NodeJS.Timeout
    const arm = (remaining: number) => {
      const rest = remaining - LONGEST_TIMEOUT
      const fire = rest > 0 ? () => arm(rest) : callback
      handle = outsideRequests(setTimeout, fire, Math.min(remaining, LONGEST_TIMEOUT))
      // Timers of a browser or of a test return a number, which has no `unref`.
      handle.unref?.()
    }
    arm(Math.max(0, Math.ceil(delay)))
    return { cancel: () => clearTimeout(handle) }
  },
}
