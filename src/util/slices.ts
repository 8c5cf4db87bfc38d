import { outsideRequests } from './async-context'
import { setImmediate } from './timers'

/** The most jobs of one tick of the event loop. */
const SLICE = 250

/**
 * Runs jobs that may become due by thousands: the first ones at once, the others in later ticks of the event
 * loop, in order.
 */
export class Slices {
  private readonly waiting: (() => void)[] = []
  /** How many ran since the last tick. */
  private ran = 0
  private isArmed = false

  run(job: () => void): void {
    this.arm()
    if (this.ran >= SLICE || this.waiting.length > 0) this.waiting.push(job)
    else {
      this.ran++
      job()
    }
  }

  private arm() {
    if (this.isArmed) return
    this.isArmed = true
    outsideRequests(setImmediate, () => this.next())
  }

  private next() {
    this.isArmed = false
    const jobs = this.waiting.splice(0, SLICE)
    this.ran = jobs.length
    if (jobs.length > 0) this.arm()
    for (const job of jobs) job()
  }
}
