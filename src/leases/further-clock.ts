import type { Moment } from '../util/clock'

/** A wall clock that runs ahead of the monotonic one by more than this, in ms, was set. */
const WALL_CLOCK_TOLERANCE = 5

/**
 * A time that goes on with the clock that advances further: the monotonic one stands still while a machine is
 * suspended, and the wall clock may be set back.
 */
export class FurtherClock {
  /** How far the wall clock was ahead of the monotonic one, in ms, when it was last set forward or back. */
  private wallAhead = Number.POSITIVE_INFINITY
  /** By how much in all the wall clock was set forward, in ms. */
  private setForward = 0

  timeAt({ monotonic, wall }: Moment): number {
    const ahead = wall - monotonic
    const jump = ahead - this.wallAhead
    const isForward = jump > WALL_CLOCK_TOLERANCE
    if (isForward) this.setForward += jump
    // What is below the tolerance adds up until it is above. The first moment is below everything.
    if (isForward || jump < 0) this.wallAhead = ahead
    return monotonic + this.setForward
  }
}
