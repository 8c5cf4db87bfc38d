import { outsideThreads } from '../ownership/logical-thread'
import type { Clock } from '../util/clock'
import { nextTick } from '../util/timers'
import type { Lease } from './lease'
import { LeaseRegistry } from './lease-registry'
import { Revalidation } from './revalidation'
import { Watchdog, type WatchdogOptions } from './watchdog'

/**
 * Monitors every live lease of a client: the watchdog renews it, or a timer reports that its explicit lease has run
 * out.
 */
export class LeaseMonitor {
  readonly live = new LeaseRegistry()
  private readonly clock: Clock
  private readonly watchdog: Watchdog
  private readonly revalidation: Revalidation
  private readonly expiring = new Set<Lease>()
  private fresh: Lease[] = []

  /** `onThere`: so many leases that were revalidated were still there. */
  constructor(options: WatchdogOptions, onThere: (leases: number) => void) {
    this.clock = options.clock
    this.watchdog = new Watchdog(options)
    this.revalidation = new Revalidation(options.clock, this.watchdog, onThere)
  }

  /** A lease begins. */
  begin(lease: Lease): void {
    this.live.add(lease)
    this.update(lease)
  }

  /**
   * Its lease was just set, or what it needs changed. Applied at the end of the turn: most locks are free again by
   * then.
   */
  update(lease: Lease): void {
    if (this.fresh.length === 0) nextTick(this.applyFresh)
    this.fresh.push(lease)
  }

  private readonly applyFresh = () => {
    const { fresh } = this
    this.fresh = []
    for (const lease of fresh) if (lease.state === 'held') this.monitor(lease)
  }

  private monitor(lease: Lease) {
    this.cancelExpiry(lease)
    if (lease.needsWatchdog) this.watchdog.add(lease)
    else {
      this.watchdog.remove(lease)
      this.armExpiry(lease)
    }
  }

  /** The lease has ended, in any way. */
  end(lease: Lease): void {
    this.cancelExpiry(lease)
    this.watchdog.remove(lease)
    this.live.delete(lease)
    lease.refuseEntry()
  }

  /** After a reconnect a different server may be answering. Renews every lease of the watchdog now. */
  renewAll(): void {
    this.watchdog.renewAll()
  }

  /** The key of this lease was changed: renews it soon, which finds out whether it is gone. */
  revalidate(lease: Lease): void {
    this.revalidation.add(lease)
  }

  /**
   * A server is gone or cut off, and its successor knows what a replica knew. Leases whose last renewal may not have
   * reached a replica end that much earlier, unless they are renewed before.
   */
  countFromReplicas(): void {
    for (const lease of this.live.all()) {
      if (!lease.countFromReplica()) continue
      this.cancelExpiry(lease)
      this.armExpiry(lease)
      this.watchdog.hurry(lease)
    }
  }

  stop(): void {
    this.fresh = []
    this.revalidation.stop()
    this.watchdog.stop()
    for (const lease of this.expiring) this.cancelExpiry(lease)
  }

  /** @internal How much it keeps, by what it is. */
  stats(): { live: number; expiring: number; renewed: number; timers: number } {
    return {
      live: this.live.size,
      expiring: this.expiring.size,
      renewed: this.watchdog.size,
      timers: this.watchdog.isTimerArmed ? 1 : 0,
    }
  }

  private armExpiry(lease: Lease) {
    lease.expiryTimer = outsideThreads(() =>
      this.clock.after(lease.remaining(), () => {
        this.forgetExpiry(lease)
        if (lease.isPastDeadline) lease.lose('lease')
        else if (!lease.needsWatchdog) this.armExpiry(lease)
      }),
    )
    this.expiring.add(lease)
  }

  private cancelExpiry(lease: Lease) {
    if (!lease.expiryTimer) return
    lease.expiryTimer.cancel()
    this.forgetExpiry(lease)
  }

  private forgetExpiry(lease: Lease) {
    lease.expiryTimer = undefined
    this.expiring.delete(lease)
  }
}
