import type { Hold } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Timer } from '../runtime/clock'
import type { ScriptCall } from '../scripts/script-runner'

/** How holds of one kind are renewed: many in one call, each answered for itself: when its lease ends now by the server's clock, or 0 when it is gone. */
export interface Renewal {
  renew(holds: readonly Hold[], lease: number): ScriptCall
}

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

interface Entry {
  readonly renewal: Renewal
  /** Monotonic time of what comes next: the renewal, or calling it overdue, or trying again. */
  at: number
}

/** At most so many batches are built in one turn of the event loop. */
const BATCHES_A_SLICE = 10

/**
 * Renews all holds of a client by one timer.
 *
 * All leases here are the same, so each stage is a queue in order of time and looking at its head suffices:
 * `resting` until the next renewal, `underWay` until answered, `overdue` while unanswered for too long,
 * `failed` until the next try.
 */
export class Watchdog {
  private readonly resting = new Map<Hold, Entry>()
  private readonly underWay = new Map<Hold, Entry>()
  private readonly overdue = new Map<Hold, Entry>()
  private readonly failed = new Map<Hold, Entry>()
  private readonly stages = [this.resting, this.underWay, this.overdue, this.failed]
  private readonly interval: number
  private readonly retryDelay: number
  private timer: Timer | undefined
  private timerAt = 0

  constructor(private readonly options: WatchdogOptions) {
    this.interval = options.lockWatchdogTimeout / 3
    this.retryDelay = Math.min(options.lockWatchdogTimeout / 20, 500)
  }

  /**
   * Starts renewing a hold whose lease was just set. One that is renewed already keeps its turn: put behind the
   * others at each re-entry, it might never have one.
   */
  add(hold: Hold, renewal: Renewal): void {
    if (this.stages.some((stage) => stage.has(hold))) return
    this.restUntil(this.now() + this.interval - hold.sinceGranted(), hold, renewal)
  }

  /** Renews it as soon as may be instead of at its turn, if it rests. */
  hurry(hold: Hold): void {
    const entry = this.resting.get(hold)
    if (!entry) return
    this.resting.delete(hold)
    const at = this.now() + this.retryDelay
    this.failed.set(hold, { renewal: entry.renewal, at })
    this.tickAt(at)
  }

  remove(hold: Hold): void {
    if (!this.take(hold)) return
    if (this.stages.some((stage) => stage.size > 0)) return
    this.timer?.cancel()
    this.timer = undefined
  }

  stop(): void {
    for (const stage of this.stages) stage.clear()
    this.timer?.cancel()
    this.timer = undefined
  }

  private restUntil(at: number, hold: Hold, renewal: Renewal) {
    this.take(hold)
    this.resting.set(hold, { renewal, at })
    this.tickAt(at)
  }

  private now() {
    return this.options.clock.now().monotonic
  }

  private take(hold: Hold): Entry | undefined {
    for (const stage of this.stages) {
      const entry = stage.get(hold)
      if (entry && stage.delete(hold)) return entry
    }
    return undefined
  }

  private tickAt(at: number) {
    if (this.timer && this.timerAt <= at) return
    this.timer?.cancel()
    this.timerAt = at
    this.timer = outsideThreads(() =>
      this.options.clock.after(Math.max(at - this.now(), 1), () => this.tick()),
    )
  }

  private tick() {
    this.timer = undefined
    const now = this.now()
    this.loseThosePastDeadline(this.underWay)
    this.loseThosePastDeadline(this.overdue)
    this.reportOverdue(now)
    const due = [...this.takeDue(this.failed, now), ...this.takeDue(this.resting, now)]
    this.send(due, now)
    const next = Math.min(...this.stages.map((stage) => this.nextIn(stage)))
    if (next < Number.POSITIVE_INFINITY) this.tickAt(next)
  }

  /** When the head of a stage wants attention: its own time or its deadline, whichever comes first. */
  private nextIn(stage: Map<Hold, Entry>): number {
    const now = this.now()
    let next = Number.POSITIVE_INFINITY
    for (const [hold, entry] of stage) {
      next = Math.min(next, now + hold.remaining(), stage === this.overdue ? next : entry.at)
      if (!this.outlasts(hold)) return next
    }
    return next
  }

  private loseThosePastDeadline(stage: Map<Hold, Entry>) {
    for (const hold of stage.keys()) {
      if (hold.isPastDeadline) {
        stage.delete(hold)
        this.options.onLost(hold, 'lease')
      } else if (!this.outlasts(hold)) return
    }
  }

  // A hold with a longer explicit level on top is out of the order of deadlines.
  private outlasts(hold: Hold): boolean {
    return hold.lease > this.options.lockWatchdogTimeout
  }

  private reportOverdue(now: number) {
    for (const [hold, entry] of this.underWay) {
      if (entry.at > now) return
      this.underWay.delete(hold)
      this.overdue.set(hold, entry)
      this.options.onRenewalFailed(
        hold,
        new Error(`the renewal is unanswered for ${Math.round(this.interval)} ms`),
      )
    }
  }

  private takeDue(stage: Map<Hold, Entry>, now: number): [Hold, Entry][] {
    const due: [Hold, Entry][] = []
    const most = BATCHES_A_SLICE * this.options.lockWatchdogBatchSize
    for (const [hold, entry] of stage) {
      if (entry.at > now || due.length >= most) break
      stage.delete(hold)
      if (hold.isPastDeadline) this.options.onLost(hold, 'lease')
      else due.push([hold, entry])
    }
    return due
  }

  private send(due: readonly [Hold, Entry][], now: number) {
    const batches = new Map<Renewal, Map<number, Hold[]>>()
    for (const [hold, entry] of due) {
      this.underWay.set(hold, { renewal: entry.renewal, at: now + this.interval })
      const groups = batches.get(entry.renewal) ?? new Map<number, Hold[]>()
      batches.set(entry.renewal, groups)
      const group = this.options.groupOf(hold.key)
      const holds = groups.get(group)
      if (holds) holds.push(hold)
      else groups.set(group, [hold])
    }
    const size = this.options.lockWatchdogBatchSize
    for (const [renewal, groups] of batches)
      for (const holds of groups.values())
        for (let start = 0; start < holds.length; start += size)
          this.sendBatch(renewal, holds.slice(start, start + size))
  }

  private sendBatch(renewal: Renewal, holds: readonly Hold[]) {
    const { lockWatchdogTimeout } = this.options
    renewal.renew(holds, lockWatchdogTimeout).answer.then(
      ({ value, sent, acknowledged }) => {
        const answers = value as number[]
        holds.forEach((hold, index) => {
          if (!this.isAwaited(hold)) return
          if (answers[index]) {
            hold.leaseEnd = answers[index]
            hold.extend(sent, lockWatchdogTimeout)
            if (acknowledged) hold.replicatedUpTo(sent)
            // Not since the hold's grant: that may be an older one of a longer lease.
            this.restUntil(sent.monotonic + this.interval, hold, renewal)
          } else {
            this.take(hold)
            this.options.onLost(hold, 'gone')
          }
        })
      },
      (error) => {
        const at = this.now() + this.retryDelay
        for (const hold of holds) {
          const told = this.overdue.has(hold)
          if (!this.isAwaited(hold)) continue
          this.take(hold)
          this.failed.set(hold, { renewal, at })
          if (!told) this.options.onRenewalFailed(hold, error)
        }
        this.tickAt(at)
      },
    )
  }

  // A hold that was released, or renewed by a re-entry in the meantime, has nothing to learn from this answer.
  private isAwaited(hold: Hold) {
    return this.underWay.has(hold) || this.overdue.has(hold)
  }
}
