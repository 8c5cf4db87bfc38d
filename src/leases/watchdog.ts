import { publishRenewal } from '../api/diagnostics'
import type { EventOrigin } from '../api/events'
import { isCrossSlot, isHalfMoved, isKeyRefused } from '../redis/reply/errors'
import type { ScriptExecutor } from '../scripts/executor'
import type { Reply } from '../scripts/reply'
import type { Clock, Moment } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import { Agenda } from './agenda'
import { FurtherClock } from './further-clock'
import type { Lease, LossReason } from './lease'
import { type RenewalBatch, RenewalBatches } from './renewal-batches'
import { Watched } from './watched'

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
/** Less than this, in ms, is nothing: added to a time it may make no later one. */
const SHORTEST = 0.001

/**
 * Watches the deadline of every lease of a client, and renews those that need it, by one timer. One tick of
 * the event loop renews or reports a bounded number of leases, however many are due. Deadlines come first.
 *
 * | what happens to a lease    | if `expiring` | if `scheduled`   | if `inFlight`                                |
 * | -------------------------- | ------------- | ---------------- | -------------------------------------------- |
 * | it needs renewals          | is scheduled  |                  |                                              |
 * | it needs none any more     |               | only expires     | only expires; no answer counts               |
 * | hurry, renewAll            |               | its action comes | it is sent again after the answer, unless    |
 * |                            |               |                  | the server keeps it until its limit          |
 * | its deadline passes        | ends          | ends             | ends                                         |
 * | its action is due          |               | is in flight     | is reported as overdue, once                 |
 * | the server renewed it      |               |                  | is scheduled; only expires at its limit      |
 * | the server has it no more  |               |                  | ends                                         |
 * | the call failed            |               |                  | is scheduled soon (a); an outage is reported |
 * | … because of keys or slots |               |                  | the same; nothing is reported                |
 *
 * (a) One that is renewed alone: after a third of the interval.
 */
export class Watchdog {
  private readonly watched = new Map<Lease, Watched>()
  private readonly furtherClock = new FurtherClock()
  /** By the clock that advanced further, as are the actions. */
  private readonly deadlines = new Agenda<Lease>()
  private readonly actions = new Agenda<Lease>()
  private readonly interval: number
  private readonly retryAfter: number
  private readonly timer: RearmableTimer
  /**
   * `staleUntil` of every lease, also of one whose grant is in flight: the server that answers from then on
   * may not have it.
   */
  private allStaleUntil = Number.NEGATIVE_INFINITY
  /**
   * Whether keys may share a call only if they share a slot. A proxy may hide a cluster, and then its first
   * CROSSSLOT tells.
   */
  private isSlotted: boolean
  /** The client is shut down. Calls that were in flight then may still set leases. */
  private isStopped = false

  constructor(private readonly options: WatchdogOptions) {
    const { clock, lockWatchdogTimeout, isCluster } = options
    this.isSlotted = isCluster
    this.interval = lockWatchdogTimeout / 3
    this.retryAfter = Math.min(lockWatchdogTimeout / 20, 500)
    this.timer = new RearmableTimer(clock, () => this.look())
  }

  /**
   * The lease began, or its levels or its deadline changed. A renewal that is scheduled or in flight stays as
   * it is: if each re-entry put it off, it might never come.
   */
  update(lease: Lease): void {
    if (this.isStopped) return
    const { clock, lockWatchdogTimeout } = this.options
    const { since, lasts } = lease.book.term
    const isRenewed = lease.needsWatchdog && !lease.book.isAtLimit
    const now = clock.now()
    const entry = this.watched.get(lease)
    const wasRenewed = entry !== undefined && entry.phase !== 'expiring'
    if (!entry || isRenewed !== wasRenewed) {
      // A new entry: the answer to a renewal that was sent for the old one does not count.
      const added = new Watched(lease, isRenewed ? 'scheduled' : 'expiring')
      this.watched.set(lease, added)
      if (isRenewed) this.scheduleNext(added, since, now)
      else this.actions.delete(lease)
    }
    // It may end before its next renewal is due.
    if (lasts < lockWatchdogTimeout) this.hurry(lease)
    else this.deadlineChanged(lease, now)
  }

  /**
   * Renews a lease within some hundred ms, or within so many, or as soon as a renewal in flight is answered.
   * Its deadline may have changed.
   */
  hurry(lease: Lease, within = this.retryAfter): void {
    const entry = this.watched.get(lease)
    if (!entry) return
    const now = this.options.clock.now()
    if (entry.phase === 'scheduled')
      this.actions.set(lease, Math.min(this.actions.at(lease), this.furtherClock.timeAt(now) + within))
    else if (entry.phase === 'inFlight') entry.staleUntil = now.monotonic
    this.deadlineChanged(lease, now)
  }

  remove(lease: Lease): void {
    if (!this.watched.delete(lease)) return
    this.deadlines.delete(lease)
    this.actions.delete(lease)
    if (this.watched.size === 0) this.timer.cancel()
  }

  /** Renews every lease now, also leases whose renewal is in flight. */
  renewAll(): void {
    const now = this.options.clock.now()
    this.allStaleUntil = now.monotonic
    for (const [lease, entry] of this.watched)
      if (entry.phase === 'scheduled') this.actions.set(lease, this.furtherClock.timeAt(now))
    this.arm()
  }

  stop(): void {
    this.isStopped = true
    for (const lease of this.watched.keys()) this.remove(lease)
  }

  /** Its next renewal, where a command that was sent at this moment set its lease. */
  private scheduleNext({ lease, staleUntil }: Watched, sent: Moment, now: Moment) {
    const isStale = sent.monotonic <= Math.max(staleUntil, this.allStaleUntil)
    const rest = isStale ? 0 : this.interval - this.options.clock.elapsedSince(sent)
    this.actions.set(lease, this.furtherClock.timeAt(now) + rest)
  }

  private deadlineChanged(lease: Lease, now: Moment) {
    this.deadlines.set(lease, this.furtherClock.timeAt(now) + lease.book.remaining(now))
    this.arm()
  }

  private arm() {
    if (this.watched.size === 0) return
    const { deadlines, actions, interval } = this
    const time = this.furtherClock.timeAt(this.options.clock.now())
    // The timers of a machine that is suspended stand still, so it wakes before a long time has passed.
    const delay = Math.min(Math.max(1, Math.min(deadlines.next, actions.next) - time), interval)
    this.timer.setEarlier(deadlines.next <= time ? 0 : delay)
  }

  private look() {
    const now = this.options.clock.now()
    this.loseExpired(now)
    this.reportOverdue(this.renewDue(now))
    this.arm()
  }

  private loseExpired(now: Moment) {
    const time = this.furtherClock.timeAt(now)
    for (let lost = 0; lost < MAX_REPORTS_AT_ONCE && this.deadlines.next <= time; lost++) {
      const lease = this.deadlines.first!
      if (lease.book.remaining(now) > SHORTEST) this.deadlineChanged(lease, now)
      else this.lose(lease, lease.book.deadlineReason)
    }
  }

  private lose(lease: Lease, reason: LossReason) {
    this.remove(lease)
    lease.lose(reason)
  }

  /**
   * Sends the renewals that are due; returns the leases whose renewals are overdue. No listener runs
   * meanwhile.
   */
  private renewDue(moment: Moment): Watched[] {
    const now = this.furtherClock.timeAt(moment)
    const { lockWatchdogTimeout, lockWatchdogBatchSize } = this.options
    const batches = new RenewalBatches(lockWatchdogBatchSize, this.isSlotted)
    const overdue: Watched[] = []
    while (!batches.isFull && overdue.length < MAX_REPORTS_AT_ONCE) {
      const due = this.actions.next
      if (due > now + this.interval * AHEAD) break
      const lease = this.actions.first!
      const entry = this.watched.get(lease)!
      // Leases that are due a little later join a batch: one call instead of one for each.
      if (due > now && (entry.phase === 'inFlight' || batches.batches.length === 0)) break
      if (entry.phase === 'inFlight') {
        this.actions.delete(lease)
        overdue.push(entry)
      } else {
        entry.phase = 'inFlight'
        this.actions.set(lease, now + this.interval)
        batches.add(entry, lease.book.withinLimit(lockWatchdogTimeout))
      }
    }
    for (const batch of batches.batches) this.send(batch)
    return overdue
  }

  private reportOverdue(overdue: readonly Watched[]) {
    if (overdue.length === 0) return
    const error = new Error(
      `Redis did not renew the lease within ${Math.round(this.interval)} ms. The client goes on until ` +
        'the lease ends. Check Redis and the network.',
    )
    for (const entry of overdue) {
      const { lease } = entry
      if (!this.isAwaited(entry)) continue
      publishRenewal(lease, this.options.origin, 'overdue', this.interval, error)
      this.reportFailing(entry, error)
    }
  }

  private send({ entries, lasts }: RenewalBatch) {
    const { clock, scripts, acknowledged } = this.options
    const began = clock.now()
    const leases = entries.map(({ lease }) => lease)
    leases[0]!.leased.renewal.renew(scripts, leases, lasts, acknowledged).answer.then(
      (reply) => this.answered(entries, lasts, began, reply),
      (error) => this.failed(entries, began, error),
    )
  }

  private answered(sent: readonly Watched[], lasts: number, began: Moment, reply: Reply<readonly number[]>) {
    const { clock, origin } = this.options
    for (const [index, entry] of sent.entries()) {
      if (!this.isAwaited(entry)) continue
      const { lease } = entry
      const leaseEnd = reply.value[index]
      if (leaseEnd) this.renewed(entry, leaseEnd, lasts, reply)
      // Last, because a subscriber may release leases, also this one.
      publishRenewal(lease, origin, leaseEnd ? 'renewed' : 'gone', clock.elapsedSince(began))
      if (!leaseEnd && this.isAwaited(entry)) this.lose(lease, 'gone')
    }
  }

  private renewed(entry: Watched, leaseEnd: number, lasts: number, { sent, acknowledged }: Reply<unknown>) {
    const { lease } = entry
    const { book } = lease
    book.renewed(sent, lasts, leaseEnd, acknowledged)
    // The time counts from `sent`. The term may belong to an older grant of a longer lease.
    entry.phase = 'scheduled'
    entry.isFailing = entry.isAlone = false
    const now = this.options.clock.now()
    this.scheduleNext(entry, sent, now)
    if (book.isAtLimit) this.update(lease)
    else this.deadlineChanged(lease, now)
  }

  private failed(sent: readonly Watched[], began: Moment, error: unknown) {
    const { clock, origin } = this.options
    const now = this.furtherClock.timeAt(clock.now())
    const isCrossing = sent.length > 1 && isCrossSlot(error)
    const { cause } = error as Error
    const isOfOneKey = sent.length > 1 && (isKeyRefused(cause) || isHalfMoved(cause))
    this.isSlotted ||= isCrossing
    for (const entry of sent) {
      if (!this.isAwaited(entry)) continue
      const { lease } = entry
      entry.phase = 'scheduled'
      // So many calls as there are such leases must not come every moment.
      this.actions.set(lease, now + (entry.isAlone ? this.interval / 3 : this.retryAfter))
      entry.isAlone ||= isOfOneKey
      if (isCrossing || isOfOneKey) continue
      publishRenewal(lease, origin, 'failed', clock.elapsedSince(began), error)
      this.reportFailing(entry, error)
    }
    this.arm()
  }

  /** Reports once for each outage of this lease. The outage ends with the next answered renewal. */
  private reportFailing(entry: Watched, error: unknown) {
    // A subscriber may have released it just now.
    if (entry.isFailing || this.watched.get(entry.lease) !== entry) return
    entry.isFailing = true
    entry.lease.renewalFailed(error)
  }

  /** Whether a renewal of this lease is in flight. */
  isRenewing(lease: Lease): boolean {
    return this.watched.get(lease)?.phase === 'inFlight'
  }

  private isAwaited(entry: Watched): boolean {
    return entry.phase === 'inFlight' && this.watched.get(entry.lease) === entry
  }
}
