import { type Clock, systemClock } from '../../src/util/clock'

/** The system's clock, which can be set forward and back; counts the timers that were armed. */
export class JumpingClock implements Clock {
  /** By how many ms the wall time was set. */
  jumped = 0
  /** For how many ms the process stood still, by the monotonic time. */
  stood = 0
  timers = 0

  now() {
    const { monotonic, wall } = systemClock.now()
    return { monotonic: monotonic + this.stood, wall: wall + this.jumped }
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
