import { channel } from 'node:diagnostics_channel'
import { nextTick } from '../util/timers'
import type { Lease, Leased } from './lease'
import { publishHold } from './lease-diagnostics'
import { Watchdog, type WatchdogOptions } from './watchdog'

/** Every live lease of one client, by key. */
export class LeaseRegistry {
  /** By key: usually one lease, and several where readers share the key. */
  private readonly leases = new Map<string, Lease | Set<Lease>>()
  private whenEmpty: (() => void) | undefined

  get size(): number {
    return this.leases.size
  }

  add(lease: Lease): void {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held === undefined) this.leases.set(key, lease)
    else if (held instanceof Set) held.add(lease)
    else this.leases.set(key, new Set([held, lease]))
  }

  delete(lease: Lease): void {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held instanceof Set) {
      if (!held.delete(lease) || held.size > 0) return
    } else if (held !== lease) return
    this.leases.delete(key)
    if (this.leases.size === 0) this.whenEmpty?.()
  }

  has(lease: Lease): boolean {
    const { key } = lease.leased
    const held = this.leases.get(key)
    return held instanceof Set ? held.has(lease) : held === lease
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

  /** Every live lease on a key. */
  on(key: string): Iterable<Lease> {
    const held = this.leases.get(key)
    if (held === undefined) return []
    return held instanceof Set ? held : [held]
  }

  *all(): Iterable<Lease> {
    for (const key of this.leases.keys()) yield* this.on(key)
  }
}

/** Every hold of a lock, and every permit that is an object, is published here when it is released. */
const releases = channel('rlock:release')

/** Monitors every live lease of a client. */
export class LeaseMonitor {
  readonly live = new LeaseRegistry()
  private readonly watchdog: Watchdog
  private fresh: Lease[] = []
  private readonly looking = new Set<Lease>()

  constructor(private readonly options: WatchdogOptions) {
    this.watchdog = new Watchdog(options)
  }

  /** Starts to monitor a lease. `isAlone`: its grant proves that what this client had of the object before is gone. */
  begin(lease: Lease, isAlone = false): void {
    const { key, relatedIds } = lease.leased
    const before = isAlone ? this.live.on(key) : []
    this.live.add(lease)
    this.update(lease)
    publishHold(lease, this.options.origin, this.options.clock)
    for (const each of before) {
      // What was answered later may have been granted later: two connections do not keep the order of their calls.
      const isOlder = this.watchdog.watchedSince(each) < lease.book.acquired.monotonic
      if (isOlder && relatedIds.includes(each.objectId) && each.checkLive()) each.lose('gone')
    }
  }

  /**
   * The lease was set, or its levels changed. The monitor applies this at the end of the event loop tick: by then most locks
   * are free again, and nothing is left to do.
   */
  update(lease: Lease): void {
    if (this.fresh.length === 0) nextTick(this.applyFresh)
    this.fresh.push(lease)
  }

  /** The watchdog takes over a lease that was set some time ago. */
  renewNow(lease: Lease): void {
    this.watchdog.update(lease)
    this.watchdog.hurry(lease, 0)
  }

  private readonly applyFresh = () => {
    const { fresh } = this
    this.fresh = []
    for (const lease of fresh) if (lease.state === 'held') this.watchdog.update(lease)
  }

  /** Stops to monitor a lease that has ended in any way. */
  end(lease: Lease): void {
    const { state } = lease
    // Publishes its first end only. A hold that the server no longer knows at its release ends once more.
    const isRelease = state === 'released' && this.live.has(lease)
    this.watchdog.remove(lease)
    this.live.delete(lease)
    lease.refuseEntry()
    if (isRelease && releases.hasSubscribers) {
      const { book, leased, owner } = lease
      const { name: lockName, kind, key } = leased
      const heldFor = this.options.clock.elapsedSince(book.acquired)
      releases.publish({ ...this.options.origin, lockName, kind, owner, key, heldFor })
    }
    if (state === 'released') lease.publishEnd?.('released')
  }

  /** After a reconnect a different server may be answering. Renews every lease of the watchdog now. */
  renewAll(): void {
    this.watchdog.renewAll()
  }

  /** Looks soon whether the server has this lease still, because it may have been released by force. The watchdog renews it. */
  look(lease: Lease): void {
    const left = Math.floor(lease.book.left())
    if (lease.needsWatchdog) return this.watchdog.hurry(lease)
    if (this.looking.has(lease) || !(left > 0)) return
    this.looking.add(lease)
    // This renewal changes nothing: the server keeps the lease for longer than what is left by this clock.
    const { answer } = lease.leased.renewal.renew(this.options.scripts, [lease], left, false)
    answer
      .then(
        ({ value: [end] }) =>
          end === 0 && lease.state === 'held' && this.live.has(lease) && lease.lose('gone'),
        () => {},
      )
      .finally(() => this.looking.delete(lease))
  }

  /**
   * A server is gone or cut off, and its successor has only the data of a replica. A lease whose last renewal may not have
   * reached a replica ends earlier: when the lease that a replica has ends, unless a renewal succeeds before.
   */
  countFromReplicas(): void {
    // Such a lease may end before its next renewal is due.
    for (const lease of this.live.all()) if (lease.book.countFromReplica()) this.watchdog.hurry(lease)
  }

  stop(): void {
    this.fresh = []
    this.watchdog.stop()
  }

  /** @internal How many leases and timers it keeps. */
  stats(): Record<'live' | 'watched' | 'timers', number> {
    return { live: this.live.size, ...this.watchdog.stats() }
  }
}
