import type { Clock, Moment, Timer } from '../runtime/clock'
import type { Queued } from '../runtime/queue'
import type { Reply, ScriptCall } from '../scripts/script-runner'
import { onAbort } from './abort-listeners'
import { notReplicated } from './not-replicated'

/** What an acquisition asks of the queue. */
export interface AcquireRequest {
  /** Milliseconds to wait at most; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  /** The lease asked for, in ms: whoever is next need not look again before it has run out. */
  readonly lease: number
  /** How long past its wait it still takes the answer to a try under way, in ms. */
  readonly grace: number
  /** For messages. */
  readonly lockName: string
  /** Sends one attempt. */
  start(): ScriptCall
  /** Whether such a lock is handed over at all. */
  readonly canTakeOver: boolean
  /** Sends one that takes the lock over from a hold of this client. */
  takeOver(giver: string): ScriptCall
  /** The attempt is nobody's any more: whatever it acquires must be given back. */
  abandon(call: ScriptCall): void
  /** An earlier copy of an answered attempt may still be applied: see that it is given back if so. */
  giveBackLateCopy(): void
  /** What to reject with when the wait is over and the server out of reach or declining; undefined: answer "not acquired". */
  unavailable(attempt: ScriptCall | undefined): Error | undefined
}

/** One acquisition in the queue: settles once, in whichever way comes first. */
export class Waiter implements Queued<Waiter> {
  before: Waiter | undefined
  behind: Waiter | undefined
  /** The reply that acquired the lock, or undefined when the wait was over. */
  readonly result: Promise<Reply | undefined>
  readonly joined: Moment
  settled = false
  /** The wait is over: the attempt under way is the last. */
  lastTry: boolean
  /** Tells the queue that the waiter left in the middle of an attempt. */
  onLeft: (() => void) | undefined
  /** How many times in a row no replica acknowledged it. */
  unacknowledged = 0
  private lateCopyPossible = false
  private attempt: ScriptCall | undefined
  private timer: Timer | undefined
  private stopListening: (() => void) | undefined
  private resolve!: (reply: Reply | undefined) => void
  private reject!: (error: unknown) => void

  constructor(
    readonly request: AcquireRequest,
    private readonly clock: Clock,
    /** Called once when the waiter is settled for any reason. */
    private readonly onSettled: (waiter: Waiter) => void,
  ) {
    this.joined = clock.now()
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    const { waitTime, signal, grace } = request
    this.lastTry = waitTime !== undefined && waitTime <= 0
    if (waitTime !== undefined) this.timer = clock.after(this.lastTry ? grace : waitTime, this.waitIsOver)
    if (signal) this.stopListening = onAbort(signal, () => this.fail(signal.reason))
  }

  /** How much of its wait is left, in ms. */
  get patience(): number {
    const { waitTime } = this.request
    return waitTime === undefined ? Number.POSITIVE_INFINITY : waitTime - this.clock.elapsedSince(this.joined)
  }

  /** Sends one attempt: an open one, or one that takes over from a hold of this client. */
  startAttempt(giver: string | undefined): ScriptCall {
    this.attempt = giver === undefined ? this.request.start() : this.request.takeOver(giver)
    return this.attempt
  }

  /** The attempt was answered, and did not acquire or did. */
  endAttempt(connectionBroke: boolean): void {
    this.attempt = undefined
    this.lateCopyPossible ||= connectionBroke
  }

  succeed(reply: Reply): void {
    // Of this attempt or of one before it: the hold is to know, for a copy that arrives after its release finds the lock free.
    const known = this.lateCopyPossible ? { ...reply, connectionBroke: true } : reply
    this.lateCopyPossible = false
    if (this.settle()) this.resolve(known)
  }

  /** The wait is over and the last try was answered, or never made because others are before this one. */
  giveUp(): void {
    if (this.settle()) this.resolve(undefined)
  }

  fail(error: unknown): void {
    if (this.settle()) this.reject(error)
  }

  private readonly waitIsOver = () => {
    const { request, unacknowledged } = this
    const error = request.unavailable(this.attempt)
    if (!error && this.attempt?.isUnderWay && !this.lastTry) {
      // Whoever asked for less than a round trip still gets the one try under way.
      this.lastTry = true
      this.timer = this.clock.after(request.grace, this.waitIsOver)
      return
    }
    if (error) this.fail(error)
    else if (unacknowledged > 0) this.fail(notReplicated(request.lockName, unacknowledged))
    else this.giveUp()
  }

  private settle(): boolean {
    if (this.settled) return false
    this.settled = true
    this.timer?.cancel()
    this.stopListening?.()
    if (this.attempt) this.request.abandon(this.attempt)
    else if (this.lateCopyPossible) this.request.giveBackLateCopy()
    this.attempt = undefined
    this.onSettled(this)
    this.onLeft?.()
    return true
  }
}
