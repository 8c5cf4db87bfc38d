import type { Clock, Timer } from './clock'

/**
 * One timer that is set again and again, usually to a later time than before. Then the timer beneath keeps
 * running. When it fires, it is armed for the rest of the time. This saves a new timer for each call.
 */
export class RearmableTimer {
  private timer: Timer | undefined
  private timerEnds = 0
  private due: number | undefined

  constructor(
    private readonly clock: Clock,
    private readonly onDue: () => void,
  ) {}

  /** Fires once after `delay` ms. The time that was set before does not count any more. */
  set(delay: number): void {
    this.due = this.clock.now().monotonic + delay
    if (this.timer && this.timerEnds <= this.due) return
    this.timer?.cancel()
    this.arm(delay)
  }

  /** Fires once after `delay` ms at the latest. */
  setEarlier(delay: number): void {
    if (this.due === undefined || this.clock.now().monotonic + delay < this.due) this.set(delay)
  }

  /** Prevents the callback; the timer beneath may keep running. */
  disarm(): void {
    this.due = undefined
  }

  /** Prevents the callback, and stops the timer beneath. */
  cancel(): void {
    this.due = undefined
    this.timer?.cancel()
    this.timer = undefined
  }

  private arm(delay: number) {
    this.timerEnds = this.clock.now().monotonic + delay
    this.timer = this.clock.after(delay, this.onTimer)
  }

  private readonly onTimer = () => {
    this.timer = undefined
    if (this.due === undefined) return
    const rest = this.due - this.clock.now().monotonic
    // A timer of whole milliseconds may fire slightly early.
    if (rest >= 1) return this.arm(rest)
    this.due = undefined
    this.onDue()
  }
}
