import type { Clock, Timer } from '../util/clock'
import type { Lease } from './lease'
import type { Watchdog } from './watchdog'

/** Suspects of this time, in ms, are renewed together. No lease is revalidated more often than that. */
const GATHER_TIME = 100

/**
 * Renews suspects early: leases that may be gone because another client changed their key. The answer says whether they are.
 */
export class Revalidation {
  private suspects = new Set<Lease>()
  private timer: Timer | undefined

  constructor(
    private readonly clock: Clock,
    private readonly watchdog: Watchdog,
    private readonly onThere: (leases: number) => void,
  ) {}

  add(lease: Lease): void {
    this.suspects.add(lease)
    this.timer ??= this.clock.after(GATHER_TIME, () => this.renew())
  }

  stop(): void {
    this.timer?.cancel()
    this.suspects.clear()
  }

  private renew() {
    this.timer = undefined
    const { suspects } = this
    this.suspects = new Set()
    // A lease whose renewal is in flight is renewed again later: that answer may be older than the change.
    for (const lease of this.watchdog.renewNow(suspects, this.onThere)) this.add(lease)
  }
}
