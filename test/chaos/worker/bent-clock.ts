import { type Clock, type Moment, systemClock } from '../../../src/runtime/clock'

/** The system's clock, whose wall time can be set. */
export class BentClock implements Clock {
  private ahead = 0

  jump(ms: number): void {
    this.ahead += ms
  }

  now(): Moment {
    const { monotonic, wall } = systemClock.now()
    return { monotonic, wall: wall + this.ahead }
  }

  elapsedSince(moment: Moment): number {
    const { monotonic, wall } = this.now()
    return Math.max(monotonic - moment.monotonic, wall - moment.wall)
  }

  after(delay: number, callback: () => void) {
    return systemClock.after(delay, callback)
  }
}
