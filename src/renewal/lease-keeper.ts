import type { Hold } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock } from '../runtime/clock'
import { Doubts } from './doubts'
import type { Renewal } from './renewal'
import type { Watchdog } from './watchdog'

/**
 * Sees to the lease of every hold: by the watchdog while a level has none of its own, else by a timer that
 * tells when the explicit lease has run out.
 */
export class LeaseKeeper {
  private readonly doubts: Doubts
  private readonly expiring = new Set<Hold>()
  private fresh: [Hold, Renewal][] = []

  constructor(
    private readonly clock: Clock,
    private readonly watchdog: Watchdog,
    private readonly onExpired: (hold: Hold) => void,
  ) {
    this.doubts = new Doubts(clock, watchdog)
  }

  /** A lease was just set, or the levels changed. Looked after at the end of the turn: most locks are free again by then. */
  keep(hold: Hold, renewal: Renewal): void {
    if (this.fresh.length === 0) process.nextTick(this.keepFresh)
    this.fresh.push([hold, renewal])
  }

  private readonly keepFresh = () => {
    const { fresh } = this
    this.fresh = []
    for (const [hold, renewal] of fresh) if (hold.state === 'held') this.lookAfter(hold, renewal)
  }

  private lookAfter(hold: Hold, renewal: Renewal) {
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
    this.fresh = []
    this.doubts.stop()
    this.watchdog.stop()
    for (const hold of this.expiring) this.cancelExpiry(hold)
  }

  private armExpiry(hold: Hold) {
    hold.expiry = outsideThreads(() =>
      this.clock.after(hold.remaining(), () => {
        this.forgetExpiry(hold)
        if (hold.isPastDeadline) this.onExpired(hold)
        else if (!hold.needsWatchdog) this.armExpiry(hold)
      }),
    )
    this.expiring.add(hold)
  }

  private cancelExpiry(hold: Hold) {
    if (!hold.expiry) return
    hold.expiry.cancel()
    this.forgetExpiry(hold)
  }

  private forgetExpiry(hold: Hold) {
    hold.expiry = undefined
    this.expiring.delete(hold)
  }
}
