import type { Hold } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Timer } from '../runtime/clock'
import type { Watchdog } from './watchdog'

/** Holds that come into doubt within this time, in ms, are asked about together, and each only so often. */
const GATHERED_FOR = 100

/**
 * Holds that may be gone before their next renewal, because something happened to their key. Whether they are is for a
 * renewal to say.
 */
export class Doubts {
  private holds = new Set<Hold>()
  private timer: Timer | undefined

  constructor(
    private readonly clock: Clock,
    private readonly watchdog: Watchdog,
  ) {}

  add(hold: Hold): void {
    this.holds.add(hold)
    this.timer ??= outsideThreads(() => this.clock.after(GATHERED_FOR, () => this.ask()))
  }

  stop(): void {
    this.timer?.cancel()
    this.holds.clear()
  }

  private ask() {
    this.timer = undefined
    const { holds } = this
    this.holds = new Set()
    // The answer that is under way may be older than what happened.
    for (const hold of this.watchdog.renewNow(holds)) this.add(hold)
  }
}
