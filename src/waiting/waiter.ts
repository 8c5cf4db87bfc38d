import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/reply/errors'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'
import { onAbort } from '../util/abort'
import type { Clock, Moment, Timer } from '../util/clock'
import type { Attempt, GrantedReply, Outcome, WaitResult } from './attempt'
import { nameOf, notReplicated, unanswered } from './wait-errors'

const RETRY_AFTER_TRANSIENT_ERROR = 200

/** How many times in all a client tries to acquire while no replica acknowledges. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

// biome-ignore lint/suspicious/noExplicitAny: a queue does not care what each of its waiters is granted.
export type AnyWaiter = Waiter<any>

/** What the waiters of all queues of a client need. */
export interface WaitSettings {
  readonly clock: Clock
  readonly clientId: string
  /** How long a waiter still accepts the answer to a try in flight after its wait is over, in ms. */
  readonly grace: number
  readonly unavailableAfter: number
  /** Knows whether the server is out of reach. */
  readonly scripts: { readonly isServerAway: boolean }
}

/** Waiters, first come, first served. The removal of any costs no more than that of the first. */
export class Waiters implements Iterable<AnyWaiter> {
  first: AnyWaiter | undefined
  private last: AnyWaiter | undefined

  add(waiter: AnyWaiter): void {
    waiter.before = this.last
    if (this.last) this.last.behind = waiter
    else this.first = waiter
    this.last = waiter
  }

  /** It must be among them. */
  remove(waiter: AnyWaiter): void {
    const { before, behind } = waiter
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    waiter.before = waiter.behind = undefined
  }

  /** The current one may be removed during the iteration. */
  *[Symbol.iterator](): Iterator<AnyWaiter> {
    for (let waiter = this.first; waiter; ) {
      const { behind }: AnyWaiter = waiter
      yield waiter
      waiter = behind
    }
  }
}

/** What a waiter does: between two tries it waits. `sending`: the command of a try is being sent. */
type Phase = 'waiting' | 'sending' | 'trying' | 'settled'

/**
 * What the server may hold for tries that were answered. `unacknowledged`: the last answer was a grant, and
 * no replica acknowledged it.
 */
type OnServer = 'nothing' | 'perhaps' | 'unacknowledged'

/** The part of a queue that its waiters use. */
export interface WaiterQueue {
  readonly target: { readonly subject: string }
  readonly environment: WaitSettings
  readonly waiters: Waiters
  /**
   * Called once when the waiter was settled for any reason, and is no longer among the waiters. `duringTry`:
   * the queue awaited the answer to a try of the waiter.
   */
  left(waiter: AnyWaiter, duringTry: boolean): void
  /** Whether the server said that the lock is held, and has not been silent since. */
  isKnownHeld(): boolean
  /** It is not known that the lock is held, or the lock may have become free without a message. */
  mayBeFree(): boolean
  /**
   * The wait of this waiter is over, and it has no try of its own. The next answer to any try of the queue
   * settles it.
   */
  awaitAnswer(waiter: AnyWaiter): void
}

/**
 * One acquisition in a queue. It settles once: by a grant, by the end of its wait, by an abort or by an
 * error.
 */
export class Waiter<Grant> {
  before: AnyWaiter | undefined
  behind: AnyWaiter | undefined
  readonly result: Promise<WaitResult<Grant>>
  readonly joined: Moment
  /** The wait is over, so the try in flight is the last. */
  lastTry: boolean
  /** Only the waiter sets it. */
  phase: Phase = 'waiting'
  private onServer: OnServer = 'nothing'
  /** How many grants no replica acknowledged. */
  private unacknowledged = 0
  /** The last try, until it was answered. */
  private inFlight: ScriptCall<Outcome<Grant>> | undefined
  private timer: Timer | undefined
  private stopListening: (() => void) | undefined
  private resolve!: (reply: WaitResult<Grant>) => void
  private reject!: (error: unknown) => void

  constructor(
    readonly attempt: Attempt<Grant>,
    private readonly queue: WaiterQueue,
  ) {
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    queue.waiters.add(this)
    const { clock, grace } = queue.environment
    this.joined = clock.now()
    const { waitTime, signal } = attempt
    this.lastTry = waitTime <= 0
    if (waitTime < Number.POSITIVE_INFINITY)
      this.timer = clock.after(this.lastTry ? grace : waitTime, () => this.waitIsOver())
    if (signal) this.stopListening = onAbort(signal, () => this.fail(signal.reason))
  }

  /** A try of its own is in flight. */
  get isTrying(): boolean {
    return this.phase === 'sending' || this.phase === 'trying'
  }

  /** A try of its own was or may yet be granted on the server. */
  get mayBeGranted(): boolean {
    return this.isTrying || this.mayHold
  }

  private get mayHold(): boolean {
    return this.onServer !== 'nothing'
  }

  /** How much of its wait is left, in ms. */
  get remainingWait(): number {
    return this.attempt.waitTime - this.queue.environment.clock.elapsedSince(this.joined)
  }

  /** Sends one try. With `giver` it takes over from that hold of this client. */
  startTry(giver: string | undefined): ScriptCall<Outcome<Grant>> {
    const { attempt } = this
    this.phase = 'sending'
    const call = giver === undefined ? attempt.send() : attempt.takeOver!(giver)
    // Code of the user, such as a tracing hook, may run while the command is sent, and may abort the wait.
    if ((this.phase as Phase) === 'settled') {
      attempt.undo?.(call)
      attempt.ended?.(false)
    } else {
      this.phase = 'trying'
      this.inFlight = call
    }
    return call
  }

  /**
   * Its try was answered. A grant that no replica acknowledged is tried again: the next try is idempotent,
   * and it writes, so that the next WAIT has a write to wait for.
   */
  answered(reply: Reply<Outcome<Grant>>): void {
    const { value, acknowledged } = reply
    const answer = this.mayHold ? { ...reply, hasLostCopy: true } : reply
    this.endTry(reply.hasLostCopy)
    if (value.granted && !acknowledged) this.onServer = 'unacknowledged'
    else if (this.mayHold) this.onServer = 'perhaps'
    if (!value.granted) return
    // Another owner may have held it since the grant before, as where a lease is shorter than the wait for a
    // replica. That is no reason to count anew: then two such owners would take turns for ever.
    if (acknowledged) this.succeed(answer as GrantedReply<Grant>)
    else if (++this.unacknowledged >= TRIES_FOR_ACKNOWLEDGEMENT || this.lastTry) this.failUnreplicated()
  }

  /** Its try ended with an error. Returns after how long it tries again, in ms; undefined: it has failed. */
  tryFailed(error: unknown, { mayHaveBeenApplied }: AnyScriptCall): number | undefined {
    this.phase = 'waiting'
    if (error instanceof RedisUnavailableError) return this.unavailable(error)
    if (error instanceof WrongTypeError) this.endTry(false)
    else if (!(error instanceof RedisRefusedError)) this.endTry(true)
    // A refused try that may have been applied may still be in flight. It stays the waiter's try in flight,
    // so that the failing waiter releases what the try may be granted.
    else if (!mayHaveBeenApplied) this.endTry(false)
    this.fail(error)
    return undefined
  }

  private unavailable(error: RedisUnavailableError): number | undefined {
    const { cause } = error
    const isTransient = cause !== undefined && classify(cause) === 'transient'
    if (isTransient && !isShortage(cause) && !this.lastTry) {
      this.endTry(true)
      return RETRY_AFTER_TRANSIENT_ERROR
    }
    this.fail(error)
    if (!isTransient) this.failThoseOfSameWait(error)
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

  /** The wait is over without a grant. */
  giveUp(): void {
    if (this.onServer === 'unacknowledged') this.failUnreplicated()
    else if (this.settle(false)) this.resolve(undefined)
  }

  fail(error: unknown): void {
    if (this.settle(false)) this.reject(error)
  }

  private succeed(reply: GrantedReply<Grant>) {
    this.onServer = 'nothing'
    if (this.settle(true)) this.resolve(reply)
  }

  /** `mayBeApplied`: the server may hold the lock for its try, although the answer does not grant it. */
  private endTry(mayBeApplied: boolean) {
    this.phase = 'waiting'
    if (mayBeApplied && !this.mayHold) this.onServer = 'perhaps'
    this.inFlight = undefined
  }

  /**
   * Fails the waiters behind it that have waited as long. They met the same silence, and must not wait
   * through it again.
   */
  private failThoseOfSameWait(error: unknown) {
    const { environment, waiters } = this.queue
    for (const waiter of [...waiters]) {
      if (environment.clock.elapsedSince(waiter.joined) < environment.unavailableAfter) return
      waiter.fail(error)
    }
  }

  /** For messages. */
  private get name(): string {
    return nameOf(this.queue.target, this.attempt.threadId)
  }

  private failUnreplicated() {
    this.fail(notReplicated(this.name, this.queue.environment.clientId, this.unacknowledged))
  }

  /**
   * | At the end of its wait                              | the waiter                                          |
   * | --------------------------------------------------- | --------------------------------------------------- |
   * | the server is away, or a copy of the try met an error | rejects                                           |
   * | a try of it is in flight                            | takes the answer, if it comes within the grace      |
   * | the object may be free                              | ends with the next answer to the queue, if it comes within the grace |
   * | the object is held                                  | was not acquired                                    |
   */
  private waitIsOver() {
    const { inFlight, queue } = this
    const { clock, clientId, grace, scripts } = queue.environment
    const cause = inFlight?.lastError
    if (scripts.isServerAway || cause) return this.fail(unanswered(this.name, clientId, cause))
    if (!this.lastTry && (inFlight || queue.mayBeFree())) {
      this.lastTry = true
      this.timer = clock.after(grace, () => this.waitIsOver())
      if (!inFlight) queue.awaitAnswer(this)
      return
    }
    if (queue.isKnownHeld() || this.onServer === 'unacknowledged') this.giveUp()
    else this.fail(unanswered(this.name, clientId))
  }

  private settle(granted: boolean): boolean {
    const { phase, isTrying } = this
    if (phase === 'settled') return false
    this.phase = 'settled'
    this.timer?.cancel()
    this.stopListening?.()
    if (this.inFlight || this.mayHold) this.attempt.undo?.(this.inFlight)
    if (phase !== 'sending') this.attempt.ended?.(granted)
    this.inFlight = undefined
    this.queue.waiters.remove(this)
    this.queue.left(this, isTrying)
    return true
  }
}
