import type { Clock, Timer } from './clock'

/**
 * One timer that is set again and again, as a rule for later than before: it is left to run then, and set for the rest
 * when it is over, which saves arming one each time.
 */
export class Alarm {
  private timer: Timer | undefined
  private timerEnds = 0
  private rings: number | undefined

  constructor(
    private readonly clock: Clock,
    private readonly ring: () => void,
  ) {}

  get isSet(): boolean {
    return this.rings !== undefined
  }

  /** It is about to ring: set now, it would be put off. */
  get isDue(): boolean {
    return this.rings !== undefined && this.rings <= this.clock.now().monotonic
  }

  /** Rings once after `delay` ms, and not when it was set to before. */
  set(delay: number): void {
    this.rings = this.clock.now().monotonic + delay
    if (this.timer && this.timerEnds <= this.rings) return
    this.timer?.cancel()
    this.arm(delay)
  }

  /** Does not ring; its timer may be left to run. */
  silence(): void {
    this.rings = undefined
  }

  /** Does not ring, and leaves no timer. */
  cancel(): void {
    this.rings = undefined
    this.timer?.cancel()
    this.timer = undefined
  }

  private arm(delay: number) {
    this.timerEnds = this.clock.now().monotonic + delay
    this.timer = this.clock.after(delay, this.over)
  }

  private readonly over = () => {
    this.timer = undefined
    if (this.rings === undefined) return
    const rest = this.rings - this.clock.now().monotonic
    // Timers of whole milliseconds may end a little before their time.
    if (rest >= 1) return this.arm(rest)
    this.rings = undefined
    this.ring()
  }
}
