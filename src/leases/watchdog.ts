import type { EventOrigin } from '../api/events'
import { isCrossSlot } from '../redis/errors'
import type { ScriptExecutor } from '../scripts/executor'
import { type Clock, elapsed, type Moment } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import type { Lease } from './lease'
import { publishRenewal } from './lease-diagnostics'
import { MAX_RENEWALS_AT_ONCE, RenewalBatches } from './renewal-batches'

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

/** It looks at all leases at once, and then rests for a millisecond for each so many. So it never takes the whole processor. */
const LOOKS_PER_MS = 500

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

/**
 * Watches the deadline of every lease of a client, and renews those that need it.
 *
 * One timer wakes it when the first lease needs attention, and then it looks at all of them. One tick of the event loop renews
 * or reports a bounded number of leases, however many are due.
 */
export class Watchdog {
  private readonly watched = new Map<Lease, Watched>()
  private readonly interval: number
  private readonly retryAfter: number
  private readonly timer: RearmableTimer
  /** When it may look at all leases again. */
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

  /** Renews a scheduled lease within some hundred ms, or within so many. */
  hurry(lease: Lease, within = this.retryAfter): void {
    const entry = this.watched.get(lease)
    if (!entry) return
    if (entry.phase === 'scheduled') this.enter(entry, 'retrying', this.options.clock.now(), within)
    this.wakeFor(lease, entry)
  }

  remove(lease: Lease): void {
    if (this.watched.delete(lease) && this.watched.size === 0) this.timer.cancel()
  }

  /** Renews every lease now, also leases whose renewal is in flight. */
  renewAll(): void {
    this.renewedAfresh = this.options.clock.now().monotonic
    this.wakeIn(0)
  }

  stop(): void {
    this.watched.clear()
    this.timer.cancel()
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
    this.wakeIn(Math.min(this.untilDue(entry, now), lease.book.remaining(now)))
  }

  /** The timers of a machine that is suspended stand still, so it wakes before a long time has passed. */
  private wakeIn(delay: number) {
    const rest = this.restsUntil - this.options.clock.now().monotonic
    if (this.watched.size > 0) this.timer.setEarlier(Math.max(1, rest, Math.min(delay, this.interval)))
  }

  private look() {
    const now = this.options.clock.now()
    const lost: Lease[] = []
    const overdue: Lease[] = []
    const soon: Lease[] = []
    let next = Number.POSITIVE_INFINITY
    let soonest = Number.POSITIVE_INFINITY
    let isComplete = true
    for (const [lease, entry] of this.watched) {
      const { phase } = entry
      const remaining = lease.book.remaining(now)
      const due = this.untilDue(entry, now)
      if (remaining > 0) next = Math.min(next, remaining)
      // Leases that are due a little later join the others: one call instead of one for each.
      const isSoon = due <= (phase === 'scheduled' ? this.interval * AHEAD : 0)
      if (remaining <= 0) lost.push(lease)
      else if (!isSoon) next = Math.min(next, due)
      else if (phase === 'inFlight') overdue.push(lease)
      else {
        soon.push(lease)
        soonest = Math.min(soonest, due)
      }
      isComplete = soon.length < MAX_RENEWALS_AT_ONCE && lost.length + overdue.length < MAX_REPORTS_AT_ONCE
      if (!isComplete) break
    }
    // A listener may release another lease of the list.
    for (const lease of lost) if (this.watched.has(lease)) this.lose(lease, 'lease')
    this.reportOverdue(overdue, now)
    if (soonest > 0) next = Math.min(next, soonest)
    else isComplete = this.renew(soon, now) && isComplete
    this.restsUntil = isComplete ? now.monotonic + this.watched.size / LOOKS_PER_MS : 0
    this.wakeIn(isComplete ? next : 0)
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

  /** Answers whether it could renew all of them in this tick. */
  private renew(leases: readonly Lease[], now: Moment): boolean {
    const batches = new RenewalBatches(this.options.lockWatchdogBatchSize, this.isSlotted)
    for (const lease of leases) {
      const entry = this.watched.get(lease)
      if (!entry) continue
      if (batches.isFull) break
      this.enter(entry, 'inFlight', now, this.interval)
      batches.add(lease)
    }
    for (const batch of batches.batches) this.send(batch)
    return !batches.isFull
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
