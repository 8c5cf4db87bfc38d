import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/reply/errors'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'
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

/** What a waiter does. The table of its phases stands above the class. */
export type WaiterPhase =
  /** Between two tries. */
  | 'waiting'
  /** The same, and its wait is over: the next answer to any try of its queue settles it. */
  | 'overdue'
  /** The command of a try is being sent. */
  | 'sending'
  /** Its try is in flight. */
  | 'trying'
  /** The same, and its wait is over: the answer settles it. */
  | 'last try'
  | 'settled'

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
  /** This waiter is overdue: the next answer to any try of the queue settles it. */
  awaitAnswer(waiter: AnyWaiter): void
}

/**
 * One acquisition in a queue. It settles once: by a grant, by the end of its wait, by an abort or by an
 * error.
 *
 * | Phase             | Event                                 | What happens                       | Phase after |
 * | ----------------- | ------------------------------------- | ---------------------------------- | ----------- |
 * | waiting           | its queue lets it try                 | sends the try                      | trying      |
 * | overdue           | the same                              | sends the try                      | last try    |
 * | sending           | code of the user aborts it            | undoes the try once it was sent    | settled     |
 * | trying, last try  | a grant                               | resolves with the reply            | settled     |
 * | trying            | a grant that no replica has           | tries again at once, twice at most | waiting     |
 * | last try          | the same; trying: for the third time  | rejects                            | settled     |
 * | trying            | blocked                               | its queue rests                    | waiting     |
 * | last try          | the same                              | not acquired                       | settled     |
 * | trying            | the hold that it took over was gone   | its queue tries again              | waiting     |
 * | last try          | the same                              | its queue tries again              | overdue     |
 * | trying            | a transient error                     | tries again a little later         | waiting     |
 * | trying, last try  | another error; last try: the same     | rejects                            | settled     |
 * | any but settled   | another fails, this waited as long    | rejects                            | settled     |
 * | any but settled   | granted without a try of its own      | resolves                           | settled     |
 * | any but settled   | an ancestor has acquired the lock     | resolves, and undoes its tries     | settled     |
 * | overdue           | an answer to another try              | not acquired                       | settled     |
 * | any but settled   | an abort, or the shutdown             | rejects, and undoes its tries      | settled     |
 * | any but settled   | its time is over: the server is away  | rejects                            | settled     |
 * | trying, last try  | the same, a copy of its try failed    | rejects                            | settled     |
 * | trying            | its time is over                      | waits for the answer               | last try    |
 * | waiting           | the same, the object may be free      | waits for the next answer          | overdue     |
 * | waiting           | the same, the object is held          | not acquired                       | settled     |
 * | overdue, last try | the grace is over, the object is held | not acquired                       | settled     |
 * | overdue, last try | the grace is over                     | rejects                            | settled     |
 */
export class Waiter<Grant> {
  /** Its queue, and its neighbours there. Only the queue sets them. */
  queue!: WaiterQueue
  before: AnyWaiter | undefined
  behind: AnyWaiter | undefined
  readonly joined: Moment
  /** Only the waiter sets it. A single try is overdue from the start. */
  phase: WaiterPhase
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
    this.phase = waitTime > 0 ? 'waiting' : 'overdue'
    if (waitTime === Number.POSITIVE_INFINITY && !signal) return
    const time = waitTime > 0 ? waitTime : grace
    this.limits = {
      timer: time < Number.POSITIVE_INFINITY ? clock.after(time, () => this.waitIsOver()) : undefined,
      stopListening: signal && onAbort(signal, () => this.fail(signal.reason)),
    }
  }

  /** A try of its own is in flight. */
  get isTrying(): boolean {
    const { phase } = this
    return phase === 'trying' || phase === 'last try' || phase === 'sending'
  }

  /** A try of its own was or may yet be granted on the server. */
  get mayBeGranted(): boolean {
    return this.isTrying || this.isUncertain
  }

  private get isOver(): boolean {
    return this.phase === 'overdue' || this.phase === 'last try'
  }

  /** How much of its wait is left, in ms. */
  get remainingWait(): number {
    return this.attempt.waitTime - this.queue.environment.clock.elapsedSince(this.joined)
  }

  /** Sends one try. With `giver` it takes over from that hold of this client. */
  startTry(giver: string | undefined): ScriptCall<Outcome<Grant>> {
    const { attempt, phase } = this
    this.phase = 'sending'
    const call = giver === undefined ? attempt.send() : attempt.takeOver!(giver)
    // Code of the user, such as a tracing hook, may run while the command is sent, and may abort the wait.
    if ((this.phase as WaiterPhase) === 'settled') this.withdraw(call, false)
    else {
      this.phase = phase === 'overdue' ? 'last try' : 'trying'
      this.inFlight = call
    }
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
    this.endTry()
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
    this.endTry()
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

  /** Its try was answered or has failed. */
  private endTry() {
    this.phase = this.isOver ? 'overdue' : 'waiting'
    this.inFlight = undefined
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
      this.phase = inFlight ? 'last try' : 'overdue'
      this.limits!.timer = clock.after(grace, () => this.waitIsOver())
      if (!inFlight) queue.awaitAnswer(this)
      return
    }
    if (queue.isKnownHeld()) this.giveUp()
    else if (this.unacknowledged > 0) this.failUnreplicated()
    else this.fail(unanswered(this.name, clientAndServer))
  }

  private settle(granted: boolean, inFlight: AnyScriptCall | undefined): boolean {
    const { phase } = this
    if (phase === 'settled') return false
    this.phase = 'settled'
    this.inFlight = undefined
    this.limits?.timer?.cancel()
    this.limits?.stopListening?.()
    // A try that is just being sent can be undone when it was sent: `startTry` does that.
    if (phase !== 'sending') this.withdraw(inFlight, granted)
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
