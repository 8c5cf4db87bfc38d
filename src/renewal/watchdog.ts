import type { Hold } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import { Alarm } from '../runtime/alarm'
import type { Clock } from '../runtime/clock'
import type { Renewal } from './renewal'
import { Slice } from './slice'
import { Stage, Watched } from './stage'

export interface WatchdogOptions {
  readonly clock: Clock
  /** The lease of every hold here, in ms; renewed at every third of it. */
  readonly lockWatchdogTimeout: number
  readonly lockWatchdogBatchSize: number
  /** What may share a call: the cluster slot of a key, or the same for all where there is no cluster. */
  readonly groupOf: (key: string) => number
  /** The hold is gone: found so by a renewal, or its deadline passed without one. */
  onLost(hold: Hold, reason: 'lease' | 'gone'): void
  /** A renewal failed or is overdue; it goes on being tried until the deadline. Told once an outage. */
  onRenewalFailed(hold: Hold, error: unknown): void
}

/** At most so many holds are declared lost, or overdue, in one turn of the event loop: each has listeners to tell. */
const TOLD_A_TURN = 500

/**
 * Renews all holds of a client by one timer.
 *
 * All leases here are the same, so each stage is a queue in order of time and looking at its head suffices:
 * `resting` until the next renewal, `underWay` until answered, `overdue` while unanswered for too long,
 * `failed` until the next try. However much is due at once, a turn of the event loop does a slice of it.
 */
export class Watchdog {
  private count = 0
  private readonly resting: Stage
  private readonly underWay: Stage
  private readonly overdue: Stage
  private readonly failed: Stage
  private readonly interval: number
  private readonly alarm: Alarm

  constructor(private readonly options: WatchdogOptions) {
    const { clock, lockWatchdogTimeout } = options
    this.interval = lockWatchdogTimeout / 3
    this.alarm = new Alarm(clock, () => outsideThreads(() => this.tick()))
    this.resting = new Stage(clock, this.interval)
    this.underWay = new Stage(clock, this.interval)
    this.overdue = new Stage(clock, Number.POSITIVE_INFINITY)
    this.failed = new Stage(clock, Math.min(lockWatchdogTimeout / 20, 500))
  }

  /**
   * Starts renewing a hold whose lease was just set. One that is renewed already keeps its turn: put behind the
   * others at each re-entry, it might never have one.
   */
  add(hold: Hold, renewal: Renewal): void {
    if (hold.watched) return
    const watched = new Watched(hold, renewal)
    hold.watched = watched
    this.count++
    this.resting.enter(watched, hold.granted)
    // Whoever is last is due last: what the alarm was set for comes before.
    if (watched.behind || !this.alarm.isSet) this.arm()
  }

  /** Renews it as soon as may be instead of at its turn, if it rests. */
  hurry(hold: Hold): void {
    const watched = watchedOf(hold)
    if (!watched || watched.stage !== this.resting) return
    this.failed.enter(watched, this.options.clock.now())
    this.arm()
  }

  remove(hold: Hold): void {
    const watched = watchedOf(hold)
    if (!watched) return
    hold.watched = undefined
    watched.stage?.leave(watched)
    if (--this.count === 0) this.alarm.cancel()
  }

  /**
   * Renews every hold now instead of at its turn, also those whose renewal is under way: whoever answers from here on
   * may not know them any more.
   */
  renewAll(): void {
    this.resting.hurry()
    this.failed.hurry()
    this.arm()
  }

  /** Renews these at once; answers those that are to be asked for again, for a renewal is under way or it is too many. */
  renewNow(holds: Iterable<Hold>): Hold[] {
    const now = this.options.clock.now()
    const slice = new Slice(this.options.lockWatchdogBatchSize, this.options.groupOf)
    const later: Hold[] = []
    for (const hold of holds) {
      const watched = watchedOf(hold)
      if (!watched) continue
      if (this.isAwaited(watched) || slice.isFull) later.push(hold)
      else if (watched.stage === this.resting && !hold.isPastDeadline) {
        this.underWay.enter(watched, now)
        slice.add(watched)
      }
    }
    for (const batch of slice.batches()) this.send(batch)
    this.arm()
    return later
  }

  stop(): void {
    for (const stage of [this.resting, this.underWay, this.overdue, this.failed])
      for (const { hold } of [...stage.inOrder()]) this.remove(hold)
  }

  /** Sees to it that the next tick comes when the first hold of some stage wants attention. */
  private arm() {
    const delay = Math.max(
      1,
      Math.min(
        // Renewed in time, none comes near its deadline here.
        this.resting.firstRemaining(),
        this.untilAttention(this.failed),
        this.untilAttention(this.underWay),
        this.untilAttention(this.overdue),
      ),
    )
    if (delay === Number.POSITIVE_INFINITY) this.alarm.silence()
    else outsideThreads(() => this.alarm.set(delay))
  }

  private tick() {
    for (const stage of [this.underWay, this.overdue, this.failed]) this.loseThosePastDeadline(stage)
    this.reportOverdue()
    this.renewDue()
    this.arm()
  }

  /** When a stage wants attention: its first hold's time there or its deadline, whichever comes first. */
  private untilAttention(stage: Stage): number {
    let delay = stage.firstRemaining()
    for (const watched of stage.inOrder()) {
      delay = Math.min(delay, watched.hold.remaining())
      if (!this.outlasts(watched.hold)) break
    }
    return delay
  }

  private loseThosePastDeadline(stage: Stage) {
    const lost: Watched[] = []
    for (const watched of stage.inOrder()) {
      if (watched.hold.isPastDeadline) lost.push(watched)
      else if (!this.outlasts(watched.hold)) break
      if (lost.length === TOLD_A_TURN) break
    }
    // Listeners run in here, and may release others of them.
    for (const watched of lost) if (watched.stage === stage) this.lose(watched, 'lease')
  }

  private lose({ hold }: Watched, reason: 'lease' | 'gone') {
    this.remove(hold)
    this.options.onLost(hold, reason)
  }

  // A hold with a longer explicit level on top is out of the order of deadlines.
  private outlasts(hold: Hold): boolean {
    return hold.lease > this.options.lockWatchdogTimeout
  }

  private reportOverdue() {
    let error: Error | undefined
    for (let told = 0; told < TOLD_A_TURN; told++) {
      const watched = this.underWay.due()
      if (!watched) return
      error ??= new Error(`the renewal is unanswered for ${Math.round(this.interval)} ms`)
      this.overdue.enter(watched, this.options.clock.now())
      this.tell(watched, error)
    }
  }

  private renewDue() {
    const now = this.options.clock.now()
    const slice = new Slice(this.options.lockWatchdogBatchSize, this.options.groupOf)
    for (const stage of [this.failed, this.resting])
      for (let lost = 0; !slice.isFull && lost < TOLD_A_TURN; ) {
        const watched = stage.due()
        if (!watched) break
        if (watched.hold.isPastDeadline) {
          this.lose(watched, 'lease')
          lost++
        } else {
          this.underWay.enter(watched, now)
          slice.add(watched)
        }
      }
    for (const batch of slice.batches()) this.send(batch)
  }

  private send(batch: readonly Watched[]) {
    const { lockWatchdogTimeout, clock } = this.options
    const holds = batch.map(({ hold }) => hold)
    batch[0]!.renewal.renew(holds, lockWatchdogTimeout).answer.then(
      ({ value, sent, acknowledged }) => {
        const answers = value as number[]
        batch.forEach((watched, index) => {
          if (!this.isAwaited(watched)) return
          const { hold } = watched
          if (answers[index]) {
            watched.failing = false
            hold.leaseEnd = answers[index]
            hold.extend(sent, lockWatchdogTimeout)
            if (acknowledged) hold.replicatedUpTo(sent)
            // Not since the hold's grant: that may be an older one of a longer lease.
            this.resting.enter(watched, sent)
          } else this.lose(watched, 'gone')
        })
        this.arm()
      },
      (error) => {
        const now = clock.now()
        for (const watched of batch) {
          if (!this.isAwaited(watched)) continue
          this.failed.enter(watched, now)
          this.tell(watched, error)
        }
        this.arm()
      },
    )
  }

  /** Once an outage, which ends with the next renewal that is answered. */
  private tell(watched: Watched, error: unknown) {
    if (watched.failing) return
    watched.failing = true
    this.options.onRenewalFailed(watched.hold, error)
  }

  // A hold that ended in the meantime has nothing to learn from this answer.
  private isAwaited({ stage }: Watched) {
    return stage === this.underWay || stage === this.overdue
  }
}

function watchedOf(hold: Hold): Watched | undefined {
  return hold.watched as Watched | undefined
}
