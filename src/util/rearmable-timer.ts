import type { Clock, Timer } from './clock'

/**
 * One timer that is set again and again, as a rule for later than before. It keeps running then, and is armed for the
 * rest when it fires, which saves arming a new timer each time.
 */
export class RearmableTimer {
  private timer: Timer | undefined
  private timerEnds = 0
  private due: number | undefined

  constructor(
    private readonly clock: Clock,
    private readonly onDue: () => void,
  ) {}

  get isSet(): boolean {
    return this.due !== undefined
  }

  /** Whether a timer runs, even one that was disarmed. */
  get isArmed(): boolean {
    return this.timer !== undefined
  }

  /** It is about to fire: set now, it would be put off. */
  get isDue(): boolean {
    return this.due !== undefined && this.due <= this.clock.now().monotonic
  }

  /** Fires once after `delay` ms, instead of when it was set to fire before. */
  set(delay: number): void {
    this.due = this.clock.now().monotonic + delay
    if (this.timer && this.timerEnds <= this.due) return
    this.timer?.cancel()
    this.arm(delay)
  }

  /** Does not fire; the timer beneath may keep running. */
  disarm(): void {
    this.due = undefined
  }

  /** Does not fire, and leaves no timer. */
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
