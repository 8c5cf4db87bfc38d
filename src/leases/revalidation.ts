import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Timer } from '../util/clock'
import type { Lease } from './lease'
import type { Watchdog } from './watchdog'

/** Leases that become suspect within this time, in ms, are renewed together, and each only so often. */
const GATHER_TIME = 100

/**
 * Leases that may be gone before their next renewal, because their key was changed. A renewal finds out whether they
 * are.
 */
export class Revalidation {
  private suspects = new Set<Lease>()
  private timer: Timer | undefined

  constructor(
    private readonly clock: Clock,
    private readonly watchdog: Watchdog,
    /** So many of those asked about were there. */
    private readonly onThere: (holds: number) => void,
  ) {}

  add(lease: Lease): void {
    this.suspects.add(lease)
    this.timer ??= outsideThreads(() => this.clock.after(GATHER_TIME, () => this.renew()))
  }

  stop(): void {
    this.timer?.cancel()
    this.suspects.clear()
  }

  private renew() {
    this.timer = undefined
    const { suspects } = this
    this.suspects = new Set()
    // The answer in flight may be older than the change.
    for (const lease of this.watchdog.renewNow(suspects, this.onThere)) this.add(lease)
  }
}
