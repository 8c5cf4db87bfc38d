import { channel } from 'node:diagnostics_channel'
import { ranBefore } from '../scripts/command-order'
import type { Moment } from '../util/clock'
import { nextTick } from '../util/timers'
import type { GrantOrder, Lease, Leased } from './lease'
import { publishHold } from './lease-diagnostics'
import { Watchdog, type WatchdogOptions } from './watchdog'

/** Every live lease of one client, by key. */
export class LeaseRegistry {
  /** By key: usually one lease, and several where readers share the key. */
  private readonly leases = new Map<string, Lease | Set<Lease>>()
  private whenEmpty: (() => void) | undefined

  add(lease: Lease): void {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held === undefined) this.leases.set(key, lease)
    else if (held instanceof Set) held.add(lease)
    else this.leases.set(key, new Set([held, lease]))
  }

  /** False: it was not here. */
  delete(lease: Lease): boolean {
    const { key } = lease.leased
    const held = this.leases.get(key)
    if (held instanceof Set) {
      if (!held.delete(lease)) return false
      if (held.size > 0) return true
    } else if (held !== lease) return false
    this.leases.delete(key)
    if (this.leases.size === 0) this.whenEmpty?.()
    return true
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

/** For so many keys a client remembers that it was asked to look. */
const LOOKS_REMEMBERED = 100

/** Every hold of a lock, and every permit that is an object, is published here when it is released. */
const releases = channel('rlock:release')

/** Monitors every live lease of a client. */
export class LeaseMonitor {
  readonly live = new LeaseRegistry()
  private readonly watchdog: Watchdog
  private fresh: Lease[] = []
  /** The leases at which a look is in flight, and whether another one is to follow. */
  private readonly looking = new Map<Lease, boolean>()
  /** When this client was last asked to look at a key. The reply to an acquisition may still be on its way. */
  private readonly asked = new Map<string, Moment>()
  /** The last grants with no other holder: by the connection that waits for replicas, and by the other one. */
  private readonly lastAlone = new Map<boolean, GrantOrder>()
  /** The keys at whose leases the client looks at the end of the tick. */
  private readonly doubted = new Set<string>()

  constructor(private readonly options: WatchdogOptions) {
    this.watchdog = new Watchdog(options)
  }

  /** Starts to monitor a lease. */
  begin(lease: Lease): void {
    this.live.add(lease)
    this.update(lease)
    if (lease.book.granted) this.granted(lease.leased, lease.book.granted)
    publishHold(lease, this.options.origin, this.options.clock)
    const asked = this.asked.get(lease.leased.key)
    // It was acquired before this client was asked to look, and the reply came after.
    if (asked && asked.monotonic >= lease.book.acquired.monotonic) this.doubt(lease.leased.key)
  }

  /**
   * The server granted this object. If it had no other holder, what an earlier command of this client was granted is gone. Where
   * the order of two grants is not known, one of them with no other holder, or an earlier copy may have been granted, the server
   * is asked.
   */
  granted({ key, relatedIds }: Pick<Leased, 'key' | 'relatedIds'>, grant: GrantOrder): void {
    if (grant.isAlone) this.lastAlone.set(grant.isAcknowledging, grant)
    const other = this.lastAlone.get(!grant.isAcknowledging)
    const mayBeLate = grant.hasLostCopy || (other && !ranBefore(other, grant))
    if (!grant.isAlone && (!mayBeLate || this.doubted.has(key))) return
    let isUnsure = false
    for (const each of this.live.on(key)) {
      const { granted } = each.book
      if (!granted || granted === grant || !relatedIds.includes(each.objectId) || !each.checkLive()) continue
      const isEarlier = ranBefore(granted, grant)
      if (grant.isAlone && isEarlier) each.lose('gone')
      else isUnsure ||= grant.hasLostCopy || grant.isAlone || (granted.isAlone && !isEarlier)
    }
    if (isUnsure) this.doubt(key)
  }

  /** Looks at all leases of the key once they are monitored. A thousand answers may arrive in one tick. */
  private doubt(key: string) {
    if (this.doubted.add(key).size === 1) nextTick(this.lookAtDoubted)
  }

  private readonly lookAtDoubted = () => {
    const leases = [...this.doubted].flatMap((key) => [...this.live.on(key)])
    this.doubted.clear()
    for (const lease of leases) if (lease.state === 'held') this.look(lease)
  }

  /**
   * The lease was set, or its levels changed. The monitor applies this at the end of the event loop tick: by then most locks
   * are free again, and nothing is left to do.
   */
  update(lease: Lease): void {
    if (this.fresh.length === 0) nextTick(this.applyFresh)
    this.fresh.push(lease)
  }

  /** Whether a renewal of this lease is in flight. */
  isRenewing(lease: Lease): boolean {
    return this.watchdog.awaited(lease) !== undefined
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
    this.watchdog.remove(lease)
    // Publishes its first end only. A hold that the server no longer knows at its release ends once more.
    const isFirstEnd = this.live.delete(lease)
    lease.refuseEntry()
    if (isFirstEnd && state === 'released' && releases.hasSubscribers) {
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

  /** A lock of this key may have been released by force: looks soon whether the server still has what this client holds of it. */
  lookAt(key: string): void {
    this.doubt(key)
    this.asked.delete(key)
    this.asked.set(key, this.options.clock.now())
    if (this.asked.size <= LOOKS_REMEMBERED) return
    const [oldest] = this.asked.keys()
    this.asked.delete(oldest!)
  }

  /** The watchdog renews it; for another lease the server is asked. */
  private look(lease: Lease): void {
    const left = Math.floor(lease.book.left())
    if (lease.needsWatchdog) return this.watchdog.hurry(lease)
    if (!(left > 0)) return
    // The answer to the look in flight may be older than what has happened now.
    if (this.looking.has(lease)) return void this.looking.set(lease, true)
    this.looking.set(lease, false)
    // This renewal changes nothing: the server keeps the lease for longer than what is left by this clock.
    const { answer } = lease.leased.renewal.renew(this.options.scripts, [lease], left, false)
    answer
      .then(
        ({ value: [end] }) => end === 0 && lease.state === 'held' && lease.lose('gone'),
        () => {},
      )
      .finally(() => {
        const isWantedAgain = this.looking.get(lease)
        this.looking.delete(lease)
        if (isWantedAgain && lease.state === 'held') this.look(lease)
      })
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
}
