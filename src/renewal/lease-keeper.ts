import type { Hold } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Timer } from '../runtime/clock'
import { Doubts } from './doubts'
import type { Renewal } from './renewal'
import type { Watchdog } from './watchdog'

/**
 * Sees to the lease of every hold: by the watchdog while a level has none of its own, else by a timer that
 * tells when the explicit lease has run out.
 */
export class LeaseKeeper {
  private readonly doubts: Doubts
  private readonly expiries = new Map<Hold, Timer>()

  constructor(
    private readonly clock: Clock,
    private readonly watchdog: Watchdog,
    private readonly onExpired: (hold: Hold) => void,
  ) {
    this.doubts = new Doubts(clock, watchdog)
  }

  /** A lease was just set, or the levels changed. */
  keep(hold: Hold, renewal: Renewal): void {
    this.cancelExpiry(hold)
    if (hold.needsWatchdog) this.watchdog.add(hold, renewal)
    else {
      this.watchdog.remove(hold)
      this.armExpiry(hold)
    }
  }

  /** The hold has ended, in whichever way. */
  drop(hold: Hold): void {
    this.cancelExpiry(hold)
    this.watchdog.remove(hold)
  }

  /** The server may have changed behind a broken connection: asks about every hold that it is asked about at all. */
  askAboutAll(): void {
    this.watchdog.renewAll()
  }

  /** Something happened to the key of this hold: asks about it soon. */
  askAbout(hold: Hold): void {
    this.doubts.add(hold)
  }

  /**
   * A server is gone or cut off, and its successor knows of these holds what a replica knew: those whose last
   * renewal may not have got that far end that much earlier, unless they are renewed before.
   */
  serverCutOff(holds: Iterable<Hold>): void {
    for (const hold of holds) {
      if (!hold.countFromReplica()) continue
      this.cancelExpiry(hold)
      this.armExpiry(hold)
      this.watchdog.hurry(hold)
    }
  }

  stop(): void {
    this.doubts.stop()
    this.watchdog.stop()
    for (const timer of this.expiries.values()) timer.cancel()
    this.expiries.clear()
  }

  private armExpiry(hold: Hold) {
    const timer = outsideThreads(() =>
      this.clock.after(hold.remaining(), () => {
        this.expiries.delete(hold)
        if (hold.isPastDeadline) this.onExpired(hold)
        else if (!hold.needsWatchdog) this.armExpiry(hold)
      }),
    )
    this.expiries.set(hold, timer)
  }

  private cancelExpiry(hold: Hold) {
    const timer = this.expiries.get(hold)
    if (!timer) return
    timer.cancel()
    this.expiries.delete(hold)
  }
}
