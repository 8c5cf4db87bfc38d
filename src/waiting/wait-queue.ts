import { type LogicalThread, outsideThreads } from '../ownership/logical-thread'
import type { AnyScriptCall, Reply } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import { LinkedList } from '../util/linked-list'
import { RearmableTimer } from '../util/rearmable-timer'
import { queueMicrotask } from '../util/timers'
import type { Attempt, Outcome } from './attempt'
import { type CohortPolicy, SHORT_WAIT } from './cohort'
import { catchUp, grantByMessage } from './granting-message'
import { LastAnswer } from './last-answer'
import { countOvertaken, firstThatFits, mayPass } from './local-overtaking'
import { passHere } from './local-passing'
import { LEFT, type Step, stepAfterFailure, stepWithoutReplica } from './step'
import type { BackOff } from './wait-policy'
import type { WaitQueueEnvironment, WaitTarget } from './wait-target'
import { ANCESTOR_ACQUIRED, type AnyWaiter, type GrantedReply, Waiter } from './waiter'

/**
 * A waiter behind a hold of its own client need not send a try. But a change without a message, a DEL for instance, shows
 * only in an answer. So the waiter tries after this long, in ms.
 */
const LONGEST_WITHOUT_ASKING = 100
/** While no message can arrive, the first waiter tries again after this long, in ms. */
const RECHECK_WITHOUT_SUBSCRIPTION = 1_000

/**
 * The queue of one process for one lock: first come, first served. Only the first waiter sends attempts.
 *
 * The queue may sleep when it has sent an attempt under a confirmed subscription, and no wake-up has come since. Every
 * message, and every confirmation or break of the subscription, is a wake-up. A wake-up belongs to the queue and not to a
 * waiter: if the first waiter has left, the next one takes it.
 */
export class WaitQueue extends LastAnswer {
  private readonly queue = new LinkedList<AnyWaiter>()
  private backOff: BackOff | undefined
  private state: 'idle' | 'asking' | 'sleeping' = 'idle'
  private wakeUps = 0
  /** The number of wake-ups when the attempt in flight was sent. */
  private seen = 0
  /**
   * Whether the attempt in flight competes with all clients. If not, it takes over from a hold of this client.
   */
  private asksOpenly = true
  /** How many permits are left by the last answer, for a semaphore. */
  remainder: number | undefined
  private timer: RearmableTimer | undefined
  private onTimer: () => void = () => {}
  private stopListening: (() => void) | undefined
  private stopWatching: (() => void) | undefined

  constructor(
    readonly lock: WaitTarget,
    around: WaitQueueEnvironment,
  ) {
    super(around)
  }

  get isEmpty(): boolean {
    return this.queue.first === undefined
  }

  get mayMissReleases(): boolean {
    return this.lock.policy.newBackOff !== undefined
  }

  override awaitAnswer(waiter: AnyWaiter): void {
    super.awaitAnswer(waiter)
    if (this.mayMissReleases && this.state === 'sleeping') outsideRequests(this.askNow)
  }

  /** The waiter that tries next. */
  get first(): AnyWaiter | undefined {
    return this.queue.first
  }

  /** Queues an acquisition. Its result is the reply that granted it, or undefined when its wait was over. */
  join<Grant>(attempt: Attempt<Grant>): Waiter<Grant> {
    const waiter = new Waiter(attempt, this)
    this.queue.add(waiter)
    if (waiter.lastTry && this.state !== 'idle') this.awaitAnswer(waiter)
    if (this.stopListening) catchUp(this, waiter)
    if (this.state === 'idle') outsideThreads(() => this.begin(waiter))
    else if (this.state === 'sleeping' && mayPass(this, waiter, this.remainder))
      outsideThreads(() => this.attempt(waiter, undefined))
    return waiter
  }

  /** The lock may have changed: the first waiter tries again. */
  readonly wake = (message?: string) => {
    this.wakeUps++
    this.backOff = undefined
    if (message !== undefined && message === this.lock.policy.grantedBy) grantByMessage(this)
    if (this.state === 'sleeping') outsideRequests(this.askInTurn)
  }

  /** The reason to yield to other processes may be gone: decides again whether to yield. */
  reconsider(): void {
    if (this.state === 'sleeping' && this.onTimer === this.askNow) outsideRequests(this.askInTurn)
  }

  /**
   * A hold of this client ends, and hands the lock to the first waiter instead of releasing it. Undefined if no waiter sleeps
   * here, or if other processes should have a chance. `leaseLeft`: how long the server may still keep the hold, in ms.
   */
  handOff(giver: string, leaseLeft: number): AnyScriptCall | undefined {
    const waiter = this.queue.first
    if (this.state !== 'sleeping' || !waiter?.attempt.takeOver) return undefined
    // Waiters of other clients sleep for the TTL that they read. A handoff publishes no message, so it must not shorten it.
    if (waiter.attempt.lease < leaseLeft || !this.cohort.handOff()) return undefined
    return outsideThreads(() => this.attempt(waiter, giver))
  }

  /** Gives permits that a caller of this client releases to waiters of this client: all of them, or none. Returns whether it did. */
  pass(permits: number): boolean {
    return this.lock.policy.passesHere === true && passHere(this, permits)
  }

  /** @internal How many wait here, and whether the first of them sleeps until it is notified. */
  inspect(): { waiting: number; isAsleep: boolean } {
    return {
      waiting: [...this.queue].length,
      isAsleep: this.state === 'sleeping' && this.around.isConfirmed(this.lock),
    }
  }

  /** The waiters, in order. */
  get waiters(): Iterable<AnyWaiter> {
    return this.queue
  }

  /** Rejects the waiters that are descendants of this thread. It holds the lock now, and they re-enter its hold. */
  letBranchesIn(thread: LogicalThread): void {
    for (const waiter of [...this.queue])
      if (waiter.attempt.thread?.isBelow(thread)) waiter.fail(ANCESTOR_ACQUIRED)
  }

  /** Rejects every waiter. */
  close(error: unknown): void {
    for (const waiter of [...this.queue]) waiter.fail(error)
  }

  override leave(waiter: AnyWaiter): void {
    super.leave(waiter)
    this.queue.remove(waiter)
    if (this.state !== 'sleeping') return
    if (this.isEmpty) this.finish()
    // It let none pass, and the permits that are left suffice for a waiter behind it.
    else if (waiter.overtaken >= (this.lock.policy.overtaking ?? 1) && firstThatFits(this, this.remainder))
      outsideRequests(() => queueMicrotask(this.askIfAsleep))
  }

  private begin(waiter: AnyWaiter) {
    this.cohort.come()
    // A subscription of the last queue saves the second attempt, and behind a hold of this client also the first.
    if (this.around.isConfirmed(this.lock)) {
      this.startListening()
      const held = waiter.attempt.takeOver && !waiter.lastTry ? this.around.surelyHeldFor(this.lock) : 0
      this.knownHeld = held > 0
      if (held > 0) return this.sleep(Math.min(held, LONGEST_WITHOUT_ASKING))
    }
    this.askInTurn()
  }

  private finish() {
    this.state = 'idle'
    this.backOff = undefined
    this.timer?.cancel()
    this.stopWatching?.()
    this.stopWatching = undefined
    this.stopListening?.()
    this.stopListening = undefined
    this.around.empty(this)
  }

  private startListening() {
    this.stopListening = this.around.listen(this.lock, this.wake)
    for (const waiter of this.queue) catchUp(this, waiter)
  }

  /** Yields to other processes if it is their turn, and then tries. */
  private readonly askInTurn = () => {
    const waiter = this.queue.first
    if (!waiter) return this.finish()
    const back = this.yieldFor(waiter)
    if (back <= 0) return this.ask(waiter)
    // If every first try succeeded so far, no waiter has subscribed yet. The queue must hear the releases of others.
    if (!this.stopListening) this.startListening()
    this.sleepFor(back, this.askNow)
  }

  /** How long to yield, in ms. A waiter with a short wait does not yield, and no waiter yields for more than half of the rest. */
  private yieldFor(waiter: AnyWaiter): number {
    if (waiter.patience <= SHORT_WAIT) return 0
    return Math.min(this.cohort.yieldTime(), waiter.patience / 2)
  }

  private readonly askIfAsleep = () => {
    if (this.state === 'sleeping') this.askInTurn()
  }

  private readonly askNow = () => {
    const waiter = this.queue.first
    if (waiter) this.ask(waiter)
    else this.finish()
  }

  private ask(waiter: AnyWaiter) {
    this.cohort.ask(this.around.isConfirmed(this.lock))
    this.attempt(waiter, undefined)
  }

  get cohort(): CohortPolicy {
    return this.around.cohort(this.lock)
  }

  /** Sends one try for one waiter. The queue goes on when it is answered, or when the waiter leaves. */
  private attempt(waiter: AnyWaiter, giver: string | undefined): AnyScriptCall {
    this.timer?.disarm()
    this.state = 'asking'
    this.asksOpenly = giver === undefined
    this.seen = this.wakeUps
    waiter.onLeft = this.left
    const call = waiter.startAttempt(giver)
    this.silentSince ??= call.started
    call.whenAnswered(
      (reply) => {
        if (!waiter.settled) this.goOn(this.attemptAnswered(waiter, reply))
      },
      (error) => {
        if (!waiter.settled) this.goOn(this.attemptFailed(waiter, error, call))
      },
    )
    return call
  }

  // Not at once: one abort may remove several waiters, one after the other. The queue goes on after the last of them.
  private readonly left = () => outsideRequests(() => queueMicrotask(() => this.goOn(LEFT)))

  private goOn(step: Step): void {
    if (this.isEmpty) return this.finish()
    if (step.kind === 'left') return this.askInTurn()
    this.remainder = step.left
    if (step.left === undefined) {
      if (step.kind === 'acquired' && this.lock.policy.next !== 'waits') return this.askInTurn()
    } else if (this.wakeUps === this.seen) {
      const next = firstThatFits(this, step.left)
      if (next) return void this.attempt(next, undefined)
      this.learn(true)
    }
    if (!this.stopListening) {
      this.startListening()
      // The subscription is confirmed already, but a message may have come before the queue listened.
      if (this.around.isConfirmed(this.lock)) return this.askInTurn()
    }
    // Without a wake-up since the attempt, its answer is still valid. After an acquisition, `remaining` is the granted lease.
    if (this.wakeUps === this.seen) this.sleep(step.remaining)
    else this.askInTurn()
  }

  private attemptAnswered(waiter: AnyWaiter, reply: Reply<Outcome<unknown>>): Step {
    waiter.endAttempt(reply.connectionBroke)
    waiter.onLeft = undefined
    this.silentSince = undefined
    const { value: outcome } = reply
    if (outcome.granted && !reply.acknowledged) return stepWithoutReplica(waiter)
    if (outcome.granted) {
      if (this.asksOpenly) this.cohort.begin()
      if (this.lock.policy.overtaking !== undefined) countOvertaken(this, waiter)
      waiter.succeed(reply as GrantedReply<unknown>)
      this.learn(this.lock.policy.next === 'waits')
      if (this.lock.policy.next === 'granted') this.grantAll(reply as GrantedReply<unknown>)
      return { kind: 'acquired', remaining: waiter.attempt.lease, left: outcome.left }
    }
    waiter.unacknowledged = 0
    if (waiter.lastTry) waiter.giveUp()
    if (!outcome.isLate) this.learn(true)
    if (this.asksOpenly && this.lock.policy.passesHere) this.cohort.blocked()
    return { kind: 'blocked', remaining: outcome.blockedFor, left: outcome.left }
  }

  /** The answer to a try grants every waiter that waited when the try was sent. */
  private grantAll(reply: GrantedReply<unknown>) {
    for (const waiter of [...this.queue])
      if (waiter.joined.monotonic <= reply.sent.monotonic) waiter.succeed(reply)
  }

  private attemptFailed(waiter: AnyWaiter, error: unknown, call: AnyScriptCall): Step {
    waiter.onLeft = undefined
    this.knownHeld = false
    this.silentSince = undefined
    return stepAfterFailure(this, waiter, error, call)
  }

  private sleep(remaining: number) {
    const { longestSleep } = this.around
    let longest = remaining < 0 ? longestSleep : Math.max(remaining, 1)
    const { newBackOff, placedOnServer } = this.lock.policy
    if (!placedOnServer && !this.around.isConfirmed(this.lock))
      longest = Math.min(longest, RECHECK_WITHOUT_SUBSCRIPTION)
    if (newBackOff) {
      this.backOff ??= newBackOff()
      longest = Math.min(longest, this.backOff.next())
    }
    this.sleepFor(longest, this.askInTurn)
    this.stopWatching ??= this.around.watch(this)
  }

  private sleepFor(longest: number, then: () => void) {
    this.state = 'sleeping'
    this.onTimer = then
    this.timer ??= new RearmableTimer(this.around.clock, () => this.onTimer())
    this.timer.set(longest)
  }
}
