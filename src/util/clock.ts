import { outsideRequests } from './async-context'
import { clearTimeout, dateNow, performanceNow, setTimeout } from './timers'

/** setTimeout wraps to "at once" beyond this many milliseconds. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** A moment on both clocks: monotonic time stands still while the machine is suspended, wall time can be set. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** A timer that was armed and can be called off; calling it off twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/** All that the client knows of time. A parameter of the internal client, so that tests can bend it. */
export interface Clock {
  now(): Moment
  /** Milliseconds since `moment`, by whichever of the two clocks advanced further. */
  elapsedSince(moment: Moment): number
  /** Calls back once after `delay` ms, however long that is. Timers never keep the process alive. */
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
    else {
      this.handle = undefined
      this.callback()
    }
  }

  private arm() {
    const delay = Math.min(this.remaining, LONGEST_TIMEOUT)
    this.remaining -= delay
    this.handle = outsideRequests(setTimeout, this.fire, delay)
    // A number where timers of a browser or of a test stand in for Node's.
    this.handle.unref?.()
  }

  cancel() {
    if (this.handle !== undefined) clearTimeout(this.handle)
    this.handle = undefined
  }
}

export const systemClock: Clock = {
  now: () => ({ monotonic: performanceNow(), wall: dateNow() }),
  elapsedSince: (moment) => Math.max(performanceNow() - moment.monotonic, dateNow() - moment.wall),
  after: (delay, callback) => new LongTimer(Math.max(0, Math.ceil(delay)), callback),
}
