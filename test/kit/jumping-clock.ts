import { type Clock, systemClock } from '../../src/util/clock'

/** The system's clock, of which the wall time can be set; counts the timers that were armed. */
export class JumpingClock implements Clock {
  jumped = 0
  timers = 0

  now() {
    const { monotonic, wall } = systemClock.now()
    return { monotonic, wall: wall + this.jumped }
  }

  elapsedSince(moment: { monotonic: number; wall: number }) {
    const { monotonic, wall } = this.now()
    return Math.max(monotonic - moment.monotonic, wall - moment.wall)
  }

  after(delay: number, callback: () => void) {
    this.timers++
    return systemClock.after(delay, callback)
  }
}
