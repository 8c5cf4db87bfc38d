import type { Clock, Timer } from '../util/clock'
import { nextTick } from '../util/timers'
import type { Lease } from './lease'
import { LeaseRegistry } from './lease-registry'
import { Watchdog, type WatchdogOptions } from './watchdog'

/** Monitors every live lease of a client: the watchdog renews it, or a timer reports that its explicit lease has ended. */
export class LeaseMonitor {
  readonly live = new LeaseRegistry()
  private readonly clock: Clock
  private readonly watchdog: Watchdog
  private readonly expiring = new Map<Lease, Timer>()
  private fresh: Lease[] = []

  constructor(options: WatchdogOptions) {
    this.clock = options.clock
    this.watchdog = new Watchdog(options)
  }

  /** Starts to monitor a lease. */
  begin(lease: Lease): void {
    this.live.add(lease)
    this.update(lease)
  }

  /**
   * The lease was set, or its levels changed. The monitor applies this at the end of the event loop tick: by then most locks
   * are free again, and nothing is left to do.
   */
  update(lease: Lease): void {
    if (this.fresh.length === 0) nextTick(this.applyFresh)
    this.fresh.push(lease)
  }

  private readonly applyFresh = () => {
    const { fresh } = this
    this.fresh = []
    for (const lease of fresh) {
      if (lease.state !== 'held') continue
      this.cancelExpiry(lease)
      if (lease.needsWatchdog) this.watchdog.add(lease)
      else {
        this.watchdog.remove(lease)
        this.armExpiry(lease)
      }
    }
  }

  /** Stops to monitor a lease that has ended in any way. */
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

  /**
   * A server is gone or cut off, and its successor has only the data of a replica. A lease whose last renewal may not have
   * reached a replica ends earlier: when the lease that a replica has ends, unless a renewal succeeds before.
   */
  countFromReplicas(): void {
    for (const lease of this.live.all()) {
      if (!lease.book.countFromReplica()) continue
      this.cancelExpiry(lease)
      this.armExpiry(lease)
      this.watchdog.hurry(lease)
    }
  }

  stop(): void {
    this.fresh = []
    this.watchdog.stop()
    for (const lease of this.expiring.keys()) this.cancelExpiry(lease)
  }

  /** @internal How many leases and timers it keeps. */
  stats(): { live: number; expiring: number; renewed: number; timers: number } {
    return {
      live: this.live.size,
      expiring: this.expiring.size,
      renewed: this.watchdog.size,
      timers: this.watchdog.isTimerArmed ? 1 : 0,
    }
  }

  private armExpiry(lease: Lease) {
    const expire = () => {
      this.cancelExpiry(lease)
      if (lease.book.isPastDeadline) lease.lose('lease')
      else if (!lease.needsWatchdog) this.armExpiry(lease)
    }
    this.expiring.set(lease, this.clock.after(lease.book.remaining(), expire))
  }

  private cancelExpiry(lease: Lease) {
    this.expiring.get(lease)?.cancel()
    this.expiring.delete(lease)
  }
}
