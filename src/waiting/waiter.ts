import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/reply/errors'
import type { Reply } from '../scripts/reply'
import type { AnyScriptCall, ScriptCall } from '../scripts/script-call'
import { onAbort } from '../util/abort'
import type { Clock, Moment, Timer } from '../util/clock'
import {
  type Attempt,
  type BelowHold,
  type GrantedReply,
  type Outcome,
  TRIES_FOR_ACKNOWLEDGEMENT,
  type WaitResult,
} from './attempt'
import { nameOf, notReplicated, unanswered } from './wait-errors'

const RETRY_AFTER_TRANSIENT_ERROR = 200

// biome-ignore lint/suspicious/noExplicitAny: a queue does not care what each of its waiters is granted.
export type AnyWaiter = Waiter<any>

/** What the waiters of all queues of a client need. */
export interface WaitSettings {
  readonly clock: Clock
  /** The client id and the server, for messages. */
  readonly clientAndServer: string
  /** How long a waiter still accepts the answer to a try in flight after its wait is over, in ms. */
  readonly grace: number
  readonly unavailableAfter: number
  /** Knows whether the server is out of reach. */
  readonly scripts: { readonly isServerAway: boolean }
}

/**
 * What the answer to a try says of the object:
 *
 * - `entered`: the waiter has it
 * - `blocked`: others have it
 * - `again`: no replica has the grant, so the waiter tries again
 * - `unknown`: the same, and the waiter has failed; or it was to take over from a hold that was gone
 */
export type TryResult = 'entered' | 'blocked' | 'again' | 'unknown'

/** The part of a queue that its waiters use. Iterates over them in their order. */
export interface WaiterQueue extends Iterable<AnyWaiter> {
  readonly target: { readonly subject: string }
  readonly environment: WaitSettings
  /** Called once when the waiter was settled for any reason: removes it. */
  leave(waiter: AnyWaiter): void
  /** Whether the server said that the lock is held, and has not been silent since. */
  isKnownHeld(): boolean
  /** It is not known that the lock is held, or the lock may have become free without a message. */
  mayBeFree(): boolean
  /** It is overdue: the next answer to any try of the queue settles it, unless it is tried itself. */
  awaitAnswer(waiter: AnyWaiter): void
}

/**
 * One acquisition in a queue. It settles once: by a grant, by the end of its wait, by an abort or by an
 * error.
 *
 * Two facts decide what an event does: whether its wait is over, and whether a try of it is in flight.
 * Without one it is *overdue* once its wait is over.
 *
 * | Event                                              | during its wait                  | after its wait   |
 * | -------------------------------------------------- | -------------------------------- | ---------------- |
 * | its try: a grant                                   | resolves with the reply          | the same         |
 * | its try: a grant that no replica has               | tries again; rejects the 3rd one | rejects          |
 * | its try: blocked                                   | its queue rests                  | not acquired     |
 * | its try: the hold that it took over was gone       | its queue tries again            | the same         |
 * | its try: an error that may pass (b)                | its queue tries again soon       | rejects          |
 * | its try: another error                             | rejects                          | rejects          |
 * | another try of its queue is answered               |                                  | not acquired (c) |
 * | granted without a try of its own                   | resolves                         | resolves         |
 * | an ancestor has acquired the lock                  | resolves, and undoes its tries   | the same         |
 * | an abort, or the shutdown                          | rejects, and undoes its tries    | the same         |
 * | an outage fails another one, it waited as long (d) | rejects, and undoes its tries    | the same         |
 * | its time, or then the grace, is over:              |                                  |                  |
 * | … the server is away, or a copy of a try failed    | rejects                          | rejects          |
 * | … a try is in flight, or the object may be free    | its wait is over                 | rejects (a)      |
 * | … the object is known to be held                   | not acquired                     | not acquired     |
 *
 * While the command of its try is being sent, code of the user may abort it: then the try is undone once it
 * was sent. (a) Not acquired, if the object is known to be held. (b) A transient one, but no shortage of the
 * server. (c) If it is overdue: a try of its own in flight has the last word.
 * (d) `unavailableAfter` or longer.
 */
export class Waiter<Grant> {
  /** Its queue, and its neighbours there. Only the queue sets them. */
  queue!: WaiterQueue
  before: AnyWaiter | undefined
  behind: AnyWaiter | undefined
  readonly joined: Moment
  /** The wait of a single try is over from the start. */
  private isOver: boolean
  private settled = false
  /** The command of a try is being sent. */
  private isSending = false
  /** The server may hold the object for a try that has ended. */
  private isUncertain = false
  /** How many tries were granted, and no replica had the grant. */
  private unacknowledged = 0
  /** Its try in flight, until that was answered or has failed. */
  private inFlight: ScriptCall<Outcome<Grant>> | undefined
  /** What may end its wait without an answer. */
  private limits: { timer: Timer | undefined; readonly stopListening: (() => void) | undefined } | undefined

  /**
   * `resolve`: takes the result of its wait, or a rejected promise.
   * There may be many waiters: each keeps what all need, and one function for its result.
   */
  constructor(
    readonly attempt: Attempt<Grant>,
    { clock, grace }: WaitSettings,
    private readonly resolve: (result: WaitResult<Grant> | BelowHold | Promise<never>) => void,
  ) {
    this.joined = clock.now()
    const { waitTime, signal } = attempt
    this.isOver = waitTime <= 0
    if (waitTime === Number.POSITIVE_INFINITY && !signal) return
    const time = waitTime > 0 ? waitTime : grace
    this.limits = {
      timer: time < Number.POSITIVE_INFINITY ? clock.after(time, () => this.waitIsOver()) : undefined,
      stopListening: signal && onAbort(signal, () => this.fail(signal.reason)),
    }
  }

  /** A try of its own is in flight. */
  get isTrying(): boolean {
    return this.isSending || this.inFlight !== undefined
  }

  /** A try of its own was or may yet be granted on the server. */
  get mayBeGranted(): boolean {
    return this.isTrying || this.isUncertain
  }

  get isSettled(): boolean {
    return this.settled
  }

  /** Its wait is over, and no try of its own is in flight. */
  get isOverdue(): boolean {
    return this.isOver && !this.isTrying && !this.settled
  }

  /** How much of its wait is left, in ms. */
  get remainingWait(): number {
    return this.attempt.waitTime - this.queue.environment.clock.elapsedSince(this.joined)
  }

  /** Sends one try. With `giver` it takes over from that hold of this client. */
  startTry(giver: string | undefined): ScriptCall<Outcome<Grant>> {
    const { attempt } = this
    this.isSending = true
    const call = giver === undefined ? attempt.send() : attempt.takeOver!(giver)
    // Code of the user, such as a tracing hook, may run while the command is sent, and may abort the wait.
    this.isSending = false
    if (this.settled) this.withdraw(call, false)
    else this.inFlight = call
    return call
  }

  /**
   * Its try was answered. A grant that no replica acknowledged is tried again: the next try is idempotent,
   * and it writes, so that the next WAIT has a write to wait for. `isCompeting`: with all clients. If not,
   * the try took over from a hold of this client.
   */
  answered(reply: Reply<Outcome<Grant>>, isCompeting: boolean): TryResult {
    const { value, acknowledged } = reply
    const answer = this.isUncertain ? { ...reply, hasLostCopy: true } : reply
    this.inFlight = undefined
    this.isUncertain ||= reply.hasLostCopy || (value.granted && !acknowledged)
    if (!value.granted) {
      if (!isCompeting) return 'unknown'
      if (this.isOver) this.giveUp()
      return 'blocked'
    }
    if (acknowledged) {
      this.succeed(answer as GrantedReply<Grant>)
      return 'entered'
    }
    // Another owner may have held it since the grant before, as where a lease is shorter than the wait for a
    // replica. That is no reason to count anew: then two such owners would take turns for ever.
    if (++this.unacknowledged < TRIES_FOR_ACKNOWLEDGEMENT && !this.isOver) return 'again'
    this.failUnreplicated()
    return 'unknown'
  }

  /** Its try has failed. Returns after how long it tries again, in ms; undefined: it has failed. */
  tryFailed(error: unknown, call: AnyScriptCall): number | undefined {
    this.inFlight = undefined
    if (error instanceof RedisUnavailableError) return this.unavailable(error, call)
    const isRefused = error instanceof RedisRefusedError
    this.isUncertain ||= !isRefused && !(error instanceof WrongTypeError)
    // A copy of a refused try may be in flight still.
    this.failAfter(isRefused && call.mayHaveBeenApplied ? call : undefined, error)
    return undefined
  }

  private unavailable(error: RedisUnavailableError, call: AnyScriptCall): number | undefined {
    const { cause } = error
    const mayPass = cause !== undefined && classify(cause) === 'transient' && !isShortage(cause)
    if (mayPass && !this.isOver) {
      this.isUncertain = true
      return RETRY_AFTER_TRANSIENT_ERROR
    }
    this.failAfter(call, error)
    if (!mayPass) this.failThoseOfSameWait(error)
    return undefined
  }

  /**
   * It is granted, although the server answered no try of it: by a message, or by another caller of this
   * client.
   */
  grant(grant: Grant): void {
    const sent = this.queue.environment.clock.now()
    const value = { granted: true, grant } as const
    this.succeed({ value, sent, hasLostCopy: false, acknowledged: true })
  }

  /** The wait ends without a grant. */
  giveUp(result?: BelowHold): void {
    if (this.settle(false, this.inFlight)) this.resolve(result)
  }

  fail(error: unknown): void {
    this.failAfter(this.inFlight, error)
  }

  /** `inFlight`: the try that may still be granted. */
  private failAfter(inFlight: AnyScriptCall | undefined, error: unknown) {
    if (this.settle(false, inFlight)) this.resolve(Promise.reject(error))
  }

  private succeed(reply: GrantedReply<Grant>) {
    this.isUncertain = false
    if (this.settle(true, this.inFlight)) this.resolve(reply)
  }

  /**
   * Fails the other waiters that have waited as long. They met the same silence or shortage, and must not
   * wait through it again.
   */
  private failThoseOfSameWait(error: unknown) {
    const { environment } = this.queue
    for (const waiter of [...this.queue]) {
      if (environment.clock.elapsedSince(waiter.joined) < environment.unavailableAfter) return
      waiter.fail(error)
    }
  }

  /** For messages. */
  private get name(): string {
    return nameOf(this.queue.target, this.attempt.threadId)
  }

  private failUnreplicated() {
    this.fail(notReplicated(this.name, this.queue.environment.clientAndServer, this.unacknowledged))
  }

  /** Its wait is over, or the grace after it. */
  private waitIsOver() {
    const { inFlight, queue } = this
    const { clock, clientAndServer, grace, scripts } = queue.environment
    const cause = inFlight?.lastError
    if (scripts.isServerAway || cause) return this.fail(unanswered(this.name, clientAndServer, cause))
    if (!this.isOver && (inFlight || queue.mayBeFree())) {
      this.isOver = true
      this.limits!.timer = clock.after(grace, () => this.waitIsOver())
      if (!inFlight) queue.awaitAnswer(this)
      return
    }
    if (queue.isKnownHeld()) this.giveUp()
    else if (this.unacknowledged > 0) this.failUnreplicated()
    else this.fail(unanswered(this.name, clientAndServer))
  }

  private settle(granted: boolean, inFlight: AnyScriptCall | undefined): boolean {
    if (this.settled) return false
    this.settled = true
    this.inFlight = undefined
    this.limits?.timer?.cancel()
    this.limits?.stopListening?.()
    // A try that is just being sent can be undone when it was sent: `startTry` does that.
    if (!this.isSending) this.withdraw(inFlight, granted)
    this.queue.leave(this)
    return true
  }

  /** It is settled: releases what its tries may have got and do not count. */
  private withdraw(inFlight: AnyScriptCall | undefined, granted: boolean) {
    const { attempt, isUncertain } = this
    if (inFlight || isUncertain) attempt.undo?.(inFlight)
    attempt.ended?.(granted, inFlight)
  }
}
