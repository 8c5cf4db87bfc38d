import type { EventOrigin } from '../api/events'
import { isCrossSlot } from '../redis/errors'
import type { ScriptExecutor } from '../scripts/executor'
import type { Clock } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import { DueEntry, DueQueue } from './due-queue'
import type { Lease, Term } from './lease'
import { publishRenewal } from './lease-diagnostics'
import { RenewalBatches } from './renewal-batches'

export interface WatchdogOptions {
  readonly origin: EventOrigin
  readonly clock: Clock
  readonly scripts: ScriptExecutor
  /** The duration of every lease here, in ms. The watchdog renews a lease at every third of it. */
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

/** What the watchdog knows of one lease. */
interface Watched {
  readonly lease: Lease
  /** The term when it was last scheduled. With another one its deadline has moved, and the deadlines behind it may be earlier. */
  term: Term
  /** Its renewals fail, and the client has reported that. */
  isFailing: boolean
}

type Entry = DueEntry<Watched>

/**
 * Renews all leases of a client by one timer.
 *
 * All leases here have the same duration. So each state is a queue in order of time, and the watchdog checks only its head:
 * `scheduled` until the next renewal, `inFlight` until the answer, `overdue` while the answer is late, `retrying` until the
 * next try. One tick of the event loop renews a bounded number of leases, however many are due.
 */
export class Watchdog {
  private readonly entries = new Map<Lease, Entry>()
  private readonly scheduled: DueQueue<Watched>
  private readonly inFlight: DueQueue<Watched>
  private readonly overdue: DueQueue<Watched>
  private readonly retrying: DueQueue<Watched>
  private readonly interval: number
  private readonly timer: RearmableTimer
  /** Whether keys may share a call only if they share a slot. A proxy may hide a cluster, and then its first CROSSSLOT tells. */
  private isSlotted: boolean

  constructor(private readonly options: WatchdogOptions) {
    const { clock, lockWatchdogTimeout, isCluster } = options
    this.isSlotted = isCluster
    this.interval = lockWatchdogTimeout / 3
    this.timer = new RearmableTimer(clock, () => this.tick())
    this.scheduled = new DueQueue(clock, this.interval)
    this.inFlight = new DueQueue(clock, this.interval)
    this.overdue = new DueQueue(clock, Number.POSITIVE_INFINITY)
    this.retrying = new DueQueue(clock, Math.min(lockWatchdogTimeout / 20, 500))
  }

  /** @internal How many leases it renews, and how many timers run. */
  stats(): { renewed: number; timers: number } {
    return { renewed: this.entries.size, timers: this.timer.isArmed ? 1 : 0 }
  }

  /**
   * Starts to renew a lease that was just set. A lease that is in a queue already keeps its place: if each re-entry moved it
   * to the end, its renewal might never come.
   */
  add(lease: Lease): void {
    if (this.entries.has(lease)) return
    const { term } = lease.book
    const entry = new DueEntry<Watched>({ lease, term, isFailing: false })
    this.entries.set(lease, entry)
    this.scheduled.enter(entry, term.since)
    // The last entry of the queue is due last, so the timer is armed for an earlier one.
    if (entry.behind || !this.timer.isSet) this.arm()
  }

  /** Renews a scheduled lease as soon as possible. */
  hurry(lease: Lease): void {
    const entry = this.entries.get(lease)
    if (entry?.queue !== this.scheduled) return
    this.retrying.enter(entry, this.options.clock.now())
    this.arm()
  }

  /** Does not wait until the next retries are due. */
  retryNow(): void {
    this.retrying.hurry()
    this.arm()
  }

  remove(lease: Lease): void {
    const entry = this.entries.get(lease)
    if (!entry) return
    entry.queue!.leave(entry)
    this.entries.delete(lease)
    if (this.entries.size === 0) this.timer.cancel()
  }

  /**
   * Renews every lease now, also leases whose renewal is in flight: the server that answers from now on may not have them.
   */
  renewAll(): void {
    this.scheduled.hurry()
    this.retrying.hurry()
    this.arm()
  }

  stop(): void {
    for (const lease of [...this.entries.keys()]) this.remove(lease)
  }

  /** Arms the timer for when the first lease of some queue needs attention. */
  private arm() {
    if (this.timer.isDue) return
    const delay = Math.max(
      1,
      Math.min(
        // No deadline matters here: a lease is renewed long before it.
        this.scheduled.firstRemaining(),
        this.untilAttention(this.retrying),
        this.untilAttention(this.inFlight),
        this.untilAttention(this.overdue),
      ),
    )
    if (delay === Number.POSITIVE_INFINITY) this.timer.disarm()
    else this.timer.set(delay)
  }

  private tick() {
    for (const queue of [this.inFlight, this.overdue, this.retrying]) this.loseExpired(queue)
    this.reportOverdue()
    this.renewDue()
    this.arm()
  }

  /** When a queue needs attention: its first lease's time there or its deadline, whichever comes first. */
  private untilAttention(queue: DueQueue<Watched>): number {
    let delay = queue.firstRemaining()
    for (const { item } of queue.inOrder()) {
      delay = Math.min(delay, item.lease.book.remaining())
      if (!this.outlasts(item)) break
    }
    return delay
  }

  private loseExpired(queue: DueQueue<Watched>) {
    const lost: Entry[] = []
    for (const entry of queue.inOrder()) {
      if (entry.item.lease.book.isPastDeadline) lost.push(entry)
      else if (!this.outlasts(entry.item)) break
      if (lost.length === MAX_REPORTS_AT_ONCE) break
    }
    // A listener may release another lease of the list.
    for (const entry of lost) if (entry.queue === queue) this.lose(entry.item.lease, 'lease')
  }

  private lose(lease: Lease, reason: 'lease' | 'gone') {
    this.remove(lease)
    lease.lose(reason)
  }

  // Whether the leases behind this one may have earlier deadlines. True for a lease with a longer explicit level, and for
  // one whose deadline has moved.
  private outlasts({ lease: { book }, term }: Watched): boolean {
    return book.term !== term || term.lasts > this.options.lockWatchdogTimeout
  }

  private reportOverdue() {
    let error: Error | undefined
    for (let reports = 0; reports < MAX_REPORTS_AT_ONCE; reports++) {
      const entry = this.inFlight.due()
      if (!entry) return
      error ??= new Error(
        `Redis did not answer the renewal within ${Math.round(this.interval)} ms. The client goes on until the lease ends. ` +
          'Check Redis and the network.',
      )
      this.overdue.enter(entry, this.options.clock.now())
      publishRenewal(entry.item.lease, this.options.origin, 'overdue', this.interval, error)
      this.reportFailing(entry.item, error)
    }
  }

  private renewDue() {
    const now = this.options.clock.now()
    const batches = new RenewalBatches(this.options.lockWatchdogBatchSize, this.isSlotted)
    for (const queue of [this.retrying, this.scheduled])
      for (let lost = 0; !batches.isFull && lost < MAX_REPORTS_AT_ONCE; ) {
        // Leases that are due a little later join the batch: one call instead of one for each.
        const entry = queue.due(
          queue === this.scheduled && batches.batches.length > 0 ? this.interval * AHEAD : 0,
        )
        if (!entry) break
        const { lease } = entry.item
        if (lease.book.isPastDeadline) {
          this.lose(lease, 'lease')
          lost++
        } else {
          this.inFlight.enter(entry, now)
          batches.add(lease)
        }
      }
    for (const batch of batches.batches) this.send(batch)
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
            this.scheduled.enter(entry, sent)
            entry.item.isFailing = false
            entry.item.term = book.term
          } else this.lose(lease, 'gone')
        }
        this.arm()
      },
      (error) => {
        const now = clock.now()
        const isRegrouped = batch.length > 1 && isCrossSlot(error)
        this.isSlotted ||= isRegrouped
        for (const lease of batch) {
          const entry = this.awaited(lease)
          if (!entry) continue
          this.retrying.enter(entry, now)
          if (isRegrouped) continue
          publishRenewal(lease, origin, 'failed', clock.elapsedSince(began), error)
          this.reportFailing(entry.item, error)
        }
        this.arm()
      },
    )
  }

  /** Reports once for each outage of this lease. The outage ends with the next answered renewal. */
  private reportFailing(watched: Watched, error: unknown) {
    if (watched.isFailing) return
    watched.isFailing = true
    watched.lease.renewalFailed(error)
  }

  // Undefined for a lease that has ended since the renewal was sent.
  private awaited(lease: Lease): Entry | undefined {
    const entry = this.entries.get(lease)
    return entry?.queue === this.inFlight || entry?.queue === this.overdue ? entry : undefined
  }
}
