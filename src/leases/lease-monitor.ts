import type { HeldLock } from '../api/client-state'
import { holds, isTraced } from '../api/diagnostics'
import { nextTick } from '../util/timers'
import type { Lease } from './lease'
import type { Leased } from './leased'
import { Watchdog, type WatchdogOptions } from './watchdog'

const NONE: readonly Lease[] = []

/** Every live lease of one client, by key. */
export class LeaseRegistry {
  /** By key: usually one lease, and several by their owners where these share the key. */
  private readonly leases = new Map<string, Lease | Map<string, Lease>>()
  private whenEmpty: (() => void) | undefined

  add(lease: Lease): void {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held === undefined) this.leases.set(key, lease)
    else if (held instanceof Map) held.set(lease.ownerField, lease)
    else this.leases.set(key, new Map([held, lease].map((each) => [each.ownerField, each])))
  }

  delete(lease: Lease): void {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held instanceof Map) {
      held.delete(lease.ownerField)
      if (held.size > 0) return
    } else if (held !== lease) return
    this.leases.delete(key)
    if (this.leases.size === 0) this.whenEmpty?.()
  }

  /** Resolves when nothing is held. */
  async empty(): Promise<void> {
    if (this.leases.size === 0) return
    await new Promise<void>((resolve) => {
      this.whenEmpty = resolve
    })
  }

  /** A live lease that keeps the waiters of this lock out, if there is one. */
  first({ key, relatedIds }: Pick<Leased, 'key' | 'relatedIds'>): Lease | undefined {
    for (const lease of this.on(key)) if (relatedIds.includes(lease.leased.objectId)) return lease
    return undefined
  }

  /** Whether this owner has a live lease on a key. */
  owned(key: string, ownerField: string): boolean {
    const held = this.leases.get(key)
    return held instanceof Map ? held.has(ownerField) : held?.ownerField === ownerField
  }

  /** Every live lease on a key. */
  on(key: string): Iterable<Lease> {
    const held = this.leases.get(key)
    if (held === undefined) return NONE
    return held instanceof Map ? held.values() : [held]
  }

  *all(): Iterable<Lease> {
    for (const key of this.leases.keys()) yield* this.on(key)
  }
}

/** Monitors every live lease of a client. */
export class LeaseMonitor {
  readonly live = new LeaseRegistry()
  private readonly watchdog: Watchdog
  /** Those that began in this tick. Each live lease is either here or watched, and `watch` alone moves it. */
  private readonly fresh = new Set<Lease>()

  constructor(private readonly options: WatchdogOptions) {
    this.watchdog = new Watchdog(options)
  }

  holds(): HeldLock[] {
    return Array.from(this.live.all(), (lease) => ({
      kind: lease.leased.kind,
      lockName: lease.leased.name,
      owner: lease.owner,
      heldFor: Math.round(this.options.clock.elapsedSince(lease.book.acquired)),
      remaining: Math.round(lease.book.remaining()),
      isRenewed: lease.needsWatchdog,
    }))
  }

  /** Starts to monitor a lease. */
  begin(lease: Lease): void {
    this.live.add(lease)
    // The watchdog takes it over at the end of the tick: by then most locks are free again.
    if (this.fresh.size === 0) nextTick(this.watchFresh)
    this.fresh.add(lease)
    if (!lease.leased.shared) this.endEarlier(lease)
    const { hasSubscribers = isTraced(holds) } = holds
    if (hasSubscribers) lease.trace(this.options.origin, this.options.clock)
  }

  /** One owner holds the object at a time: what earlier commands of this client were granted is gone. */
  private endEarlier(lease: Lease) {
    const { key, relatedIds } = lease.leased
    const { monotonic } = lease.book.acquired
    for (const each of this.live.on(key))
      if (each !== lease && relatedIds.includes(each.objectId) && each.book.acquired.monotonic <= monotonic)
        each.lose('gone')
  }

  /** The lease was set, or its levels changed. */
  update(lease: Lease): void {
    if (!this.fresh.has(lease)) this.watchdog.update(lease)
  }

  /** Whether a renewal of this lease is in flight. */
  isRenewing(lease: Lease): boolean {
    return this.watchdog.isRenewing(lease)
  }

  /** The watchdog takes over a lease that was set some time ago. */
  renewNow(lease: Lease): void {
    this.watch(lease)
    this.watchdog.hurry(lease, 0)
  }

  private readonly watchFresh = () => {
    for (const lease of this.fresh) this.watch(lease)
  }

  private watch(lease: Lease) {
    this.fresh.delete(lease)
    this.watchdog.update(lease)
  }

  /** Stops to monitor a lease that has ended in any way. */
  end(lease: Lease): void {
    if (!this.fresh.delete(lease)) this.watchdog.remove(lease)
    this.live.delete(lease)
    lease.refuseEntry()
  }

  /** After a reconnect a different server may be answering. Renews every lease of the watchdog now. */
  renewAll(): void {
    this.watchdog.renewAll()
  }

  /**
   * A server is gone or cut off, and its successor has only the data of a replica. A lease whose last renewal
   * may not have reached a replica ends earlier: when the lease that a replica has ends, unless a renewal
   * succeeds before.
   */
  failedOver(): void {
    for (const lease of this.live.all()) {
      if (!lease.book.fallBackToReplica()) continue
      // One that was to last until its limit is renewed again. Such a lease may end before its next renewal
      // is due.
      this.watch(lease)
      this.watchdog.hurry(lease)
    }
  }

  stop(): void {
    this.fresh.clear()
    this.watchdog.stop()
  }
}
