import type { EventOrigin } from '../api/events'
import { isCrossSlot } from '../redis/errors'
import type { ScriptExecutor } from '../scripts/executor'
import { type Clock, elapsed, type Moment } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import type { Lease } from './lease'
import { publishRenewal } from './lease-diagnostics'
import { RenewalBatches } from './renewal-batches'

export interface WatchdogOptions {
  readonly origin: EventOrigin
  readonly clock: Clock
  readonly scripts: ScriptExecutor
  /** The duration of every lease that the watchdog renews, in ms. It renews a lease at every third of it. */
  readonly lockWatchdogTimeout: number
  readonly lockWatchdogBatchSize: number
  /** Whether a replica must have a renewal before it counts. */
  readonly acknowledged: boolean
  readonly isCluster: boolean
}

/** How early a lease may be renewed together with others, as a fraction of the renewal interval. */
const AHEAD = 1 / 20

/** The most leases that one tick of the event loop reports as lost or overdue: each report runs listeners. */
const MAX_REPORTS_AT_ONCE = 500

/** After it has looked at so many leases it rests for a millisecond, so that it takes a small part of the processor only. */
const LOOKS_PER_MS = 200

/**
 * What the watchdog does with one lease next, besides to await its deadline.
 * - `expiring`: nothing, because no level of it needs the watchdog
 * - `scheduled`: renews it when its time has come
 * - `inFlight`: awaits the answer to a renewal; after `wait` it reports that the answer is overdue
 * - `overdue`: still awaits the answer
 * - `retrying`: renews it again
 */
type Phase = 'expiring' | 'scheduled' | 'inFlight' | 'overdue' | 'retrying'

/** What the watchdog knows of one lease. */
interface Watched {
  phase: Phase
  /** The phase ends `wait` ms after this moment. */
  since: Moment
  wait: number
  /** Its renewals fail, and the client has reported that. */
  isFailing: boolean
}

/** What one look found to do. */
interface Found {
  readonly lost: Lease[]
  readonly overdue: Lease[]
  readonly batches: RenewalBatches
}

/**
 * Watches the deadline of every lease of a client, and renews those that need it.
 *
 * One timer wakes it when the first lease needs attention. Then it looks at all of them in one pass. One tick of the event loop
 * renews or reports a bounded number of leases, and the next one goes on with the pass.
 */
export class Watchdog {
  private readonly watched = new Map<Lease, Watched>()
  private readonly interval: number
  private readonly retryAfter: number
  private readonly timer: RearmableTimer
  /** The rest of the leases of a pass that was interrupted. */
  private pass: IterableIterator<[Lease, Watched]> | undefined
  /** When the first lease needs attention, by the monotonic clock. */
  private next = Number.POSITIVE_INFINITY
  /** When the next pass may begin. */
  private restsUntil = 0
  /** What was renewed before this moment is renewed again: the server that answers from now on may not have it. */
  private renewedAfresh = Number.NEGATIVE_INFINITY
  /** Whether keys may share a call only if they share a slot. A proxy may hide a cluster, and then its first CROSSSLOT tells. */
  private isSlotted: boolean

  constructor(private readonly options: WatchdogOptions) {
    const { clock, lockWatchdogTimeout, isCluster } = options
    this.isSlotted = isCluster
    this.interval = lockWatchdogTimeout / 3
    this.retryAfter = Math.min(lockWatchdogTimeout / 20, 500)
    this.timer = new RearmableTimer(clock, () => this.look())
  }

  /** @internal How many leases it watches, and how many timers run. */
  stats(): { watched: number; timers: number } {
    return { watched: this.watched.size, timers: this.timer.isArmed ? 1 : 0 }
  }

  /**
   * The lease began, or its levels or its deadline changed. A renewal that is scheduled or in flight stays as it is: if each
   * re-entry put it off, it might never come.
   */
  update(lease: Lease): void {
    const { needsWatchdog, book } = lease
    const { since, lasts } = book.term
    let entry = this.watched.get(lease)
    if (!entry || needsWatchdog === (entry.phase === 'expiring')) {
      const phase = needsWatchdog ? 'scheduled' : 'expiring'
      entry = {
        phase,
        since,
        wait: needsWatchdog ? this.interval : Number.POSITIVE_INFINITY,
        isFailing: false,
      }
      this.watched.set(lease, entry)
    }
    // It may end before its next renewal is due.
    if (lasts < this.options.lockWatchdogTimeout) this.hurry(lease)
    else this.wakeFor(lease, entry)
  }

  /** Renews a lease within some hundred ms, or within so many, unless a renewal is in flight. */
  hurry(lease: Lease, within = this.retryAfter): void {
    const entry = this.watched.get(lease)
    if (!entry) return
    const now = this.options.clock.now()
    if (entry.phase === 'scheduled' || entry.phase === 'retrying')
      this.enter(entry, 'retrying', now, Math.min(within, this.untilDue(entry, now)))
    this.wakeFor(lease, entry)
  }

  remove(lease: Lease): void {
    if (this.watched.delete(lease) && this.watched.size === 0) this.stop()
  }

  /** Renews every lease now, also leases whose renewal is in flight. */
  renewAll(): void {
    this.renewedAfresh = this.options.clock.now().monotonic
    this.wakeAt(this.renewedAfresh, this.options.clock.now())
  }

  stop(): void {
    this.watched.clear()
    this.timer.cancel()
    this.pass = undefined
    this.next = Number.POSITIVE_INFINITY
  }

  private enter(entry: Watched, phase: Phase, since: Moment, wait: number) {
    entry.phase = phase
    entry.since = since
    entry.wait = wait
  }

  /** Milliseconds until the phase of a lease ends. */
  private untilDue({ phase, since, wait }: Watched, now: Moment): number {
    const isAfresh = (phase === 'scheduled' || phase === 'retrying') && since.monotonic <= this.renewedAfresh
    return isAfresh ? 0 : wait - elapsed(since, now)
  }

  private wakeFor(lease: Lease, entry: Watched) {
    const now = this.options.clock.now()
    this.wakeAt(now.monotonic + Math.min(this.untilDue(entry, now), lease.book.remaining(now)), now)
  }

  private wakeAt(time: number, now: Moment) {
    this.next = Math.min(this.next, time)
    if (!this.pass) this.arm(now)
  }

  private arm({ monotonic: now }: Moment) {
    if (this.watched.size === 0) return
    // The timers of a machine that is suspended stand still, so it wakes before a long time has passed.
    const delay = this.pass ? 0 : Math.max(this.restsUntil - now, Math.min(this.next - now, this.interval))
    this.timer.setEarlier(Math.max(1, delay))
  }

  /** Looks at all leases, or at the next ones of a pass. */
  private look() {
    const now = this.options.clock.now()
    if (!this.pass) this.next = Number.POSITIVE_INFINITY
    this.pass ??= this.watched.entries()
    const batches = new RenewalBatches(this.options.lockWatchdogBatchSize, this.isSlotted)
    const found: Found = { lost: [], overdue: [], batches }
    let isOver = true
    // `break` does not end the iterator of a Map.
    for (const [lease, entry] of this.pass) {
      this.lookAt(lease, entry, now, found)
      isOver = !batches.isFull && found.lost.length + found.overdue.length < MAX_REPORTS_AT_ONCE
      if (!isOver) break
    }
    if (isOver) {
      this.pass = undefined
      this.restsUntil = now.monotonic + this.watched.size / LOOKS_PER_MS
    }
    // A listener may release another lease of the list.
    for (const lease of found.lost) if (this.watched.has(lease)) this.lose(lease, 'lease')
    this.reportOverdue(found.overdue, now)
    for (const batch of batches.batches) this.send(batch)
    this.arm(now)
  }

  private lookAt(lease: Lease, entry: Watched, now: Moment, { lost, overdue, batches }: Found) {
    const remaining = lease.book.remaining(now)
    if (remaining <= 0) {
      lost.push(lease)
      return
    }
    this.next = Math.min(this.next, now.monotonic + remaining)
    const { phase } = entry
    // Leases that are due a little later join the batch: one call instead of one for each.
    const ahead = phase === 'scheduled' && batches.batches.length > 0 ? this.interval * AHEAD : 0
    const due = this.untilDue(entry, now)
    if (due > ahead) this.next = Math.min(this.next, now.monotonic + due)
    else if (phase === 'inFlight') overdue.push(lease)
    else {
      this.enter(entry, 'inFlight', now, this.interval)
      batches.add(lease)
    }
  }

  private lose(lease: Lease, reason: 'lease' | 'gone') {
    this.remove(lease)
    lease.lose(reason)
  }

  private reportOverdue(leases: readonly Lease[], now: Moment) {
    if (leases.length === 0) return
    const error = new Error(
      `Redis did not answer the renewal within ${Math.round(this.interval)} ms. The client goes on until the lease ends. ` +
        'Check Redis and the network.',
    )
    for (const lease of leases) {
      const entry = this.awaited(lease)
      if (!entry) continue
      this.enter(entry, 'overdue', now, Number.POSITIVE_INFINITY)
      publishRenewal(lease, this.options.origin, 'overdue', this.interval, error)
      this.reportFailing(lease, entry, error)
    }
  }

  private send(batch: readonly Lease[]) {
    const { lockWatchdogTimeout, clock, scripts, acknowledged, origin } = this.options
    const [{ leased }] = batch as [Lease]
    const began = clock.now()
    leased.renewal.renew(scripts, batch, lockWatchdogTimeout, acknowledged).answer.then(
      ({ value: leaseEnds, sent, acknowledged }) => {
        for (const [index, lease] of batch.entries()) {
          const entry = this.awaited(lease)
          if (!entry) continue
          const leaseEnd = leaseEnds[index]
          publishRenewal(lease, origin, leaseEnd ? 'renewed' : 'gone', clock.elapsedSince(began))
          if (leaseEnd) {
            const { book } = lease
            book.endsAt(leaseEnd)
            book.extend(sent, lockWatchdogTimeout)
            if (acknowledged) book.replicatedUpTo(sent)
            // The time counts from `sent`. The term may belong to an older grant of a longer lease.
            this.enter(entry, 'scheduled', sent, this.interval)
            entry.isFailing = false
            this.wakeFor(lease, entry)
          } else this.lose(lease, 'gone')
        }
      },
      (error) => {
        const now = clock.now()
        const isRegrouped = batch.length > 1 && isCrossSlot(error)
        this.isSlotted ||= isRegrouped
        for (const lease of batch) {
          const entry = this.awaited(lease)
          if (!entry) continue
          this.enter(entry, 'retrying', now, this.retryAfter)
          this.wakeFor(lease, entry)
          if (isRegrouped) continue
          publishRenewal(lease, origin, 'failed', clock.elapsedSince(began), error)
          this.reportFailing(lease, entry, error)
        }
      },
    )
  }

  /** Reports once for each outage of this lease. The outage ends with the next answered renewal. */
  private reportFailing(lease: Lease, entry: Watched, error: unknown) {
    if (entry.isFailing) return
    entry.isFailing = true
    lease.renewalFailed(error)
  }

  // Undefined for a lease that has ended, or needs no watchdog any more, since the renewal was sent.
  private awaited(lease: Lease): Watched | undefined {
    const entry = this.watched.get(lease)
    return entry?.phase === 'inFlight' || entry?.phase === 'overdue' ? entry : undefined
  }
}
