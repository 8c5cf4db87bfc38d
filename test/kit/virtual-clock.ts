import type { Clock, Moment, Timer } from '../../src/util/clock'

interface Armed {
  readonly at: number
  readonly callback: () => void
}

/** A clock that stands still until it is reported to go on. */
export class VirtualClock implements Clock {
  private time = 0
  /** How far the wall clock was set forward, in ms. */
  private setForward = 0
  private readonly armed = new Set<Armed>()

  now(): Moment {
    return { monotonic: this.time, wall: this.time + this.setForward }
  }

  elapsedSince(moment: Moment): number {
    const { monotonic, wall } = this.now()
    return Math.max(monotonic - moment.monotonic, wall - moment.wall)
  }

  after(delay: number, callback: () => void): Timer {
    if (delay <= 0) {
      const handle = setImmediate(callback)
      return { cancel: () => clearImmediate(handle) }
    }
    const timer = { at: this.time + delay, callback }
    this.armed.add(timer)
    return { cancel: () => this.armed.delete(timer) }
  }

  /** Sets the wall clock forward. No time passes. */
  jump(ms: number): void {
    this.setForward += ms
  }

  /** Lets time pass and calls back what is due then. */
  advance(ms: number): void {
    this.time += ms
    for (const timer of [...this.armed]) {
      if (timer.at > this.time || !this.armed.delete(timer)) continue
      timer.callback()
    }
  }
}
