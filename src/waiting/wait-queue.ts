import { type LogicalThread, outsideThreads } from '../ownership/logical-thread'
import type { AnyScriptCall, Reply } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import { LinkedList } from '../util/linked-list'
import { queueMicrotask } from '../util/timers'
import type { Attempt, Outcome } from './attempt'
import { type CohortPolicy, SHORT_WAIT } from './cohort'
import { catchUp, grantByMessage, grantByReply, Openings } from './grant-all'
import { LastAnswer } from './last-answer'
import { type AfterSleep, QueueSleep } from './queue-sleep'
import { LEFT, type Step, stepAfterFailure, stepWithoutReplica } from './step-after-try'
import type { WaitQueueEnvironment, WaitTarget } from './wait-target'
import { ANCESTOR_ACQUIRED, type AnyWaiter, type GrantedReply, unasked, Waiter } from './waiter'

/**
 * A waiter behind a hold of its own client need not send a try. But only an answer shows a change without a message, such as
 * a DEL. So the waiter tries after this long, in ms.
 */
const LONGEST_WITHOUT_TRY = 100

/**
 * The queue of one process for one lock: first come, first served. Only the first waiter sends tries.
 *
 * The queue may sleep when it has sent a try under a confirmed subscription, and no wake-up has come since. Every
 * message, and every confirmation or break of the subscription, is a wake-up. A wake-up belongs to the queue and not to a
 * waiter: if the first waiter has left, the next one takes it.
 */
export class WaitQueue extends LastAnswer {
  readonly waiters = new LinkedList<AnyWaiter>()
  private sleeping: QueueSleep | undefined
  private state: 'idle' | 'trying' | 'sleeping' = 'idle'
  private wakeUps = 0
  /** The number of wake-ups when the try in flight was sent. */
  private seen = 0
  /** Whether the try in flight competes with all clients. If not, it takes over from a hold of this client. */
  private isCompeting = true
  /** How many permits are free by the last answer, for a semaphore. */
  private left: number | undefined
  private openings: Openings | undefined
  private stopListening: (() => void) | undefined
  private stopWatching: (() => void) | undefined

  constructor(
    readonly lock: WaitTarget,
    environment: WaitQueueEnvironment,
  ) {
    super(environment)
  }

  get isEmpty(): boolean {
    return this.waiters.first === undefined
  }

  get mayMissReleases(): boolean {
    return this.lock.policy.newBackOff !== undefined
  }

  override awaitAnswer(waiter: AnyWaiter): void {
    super.awaitAnswer(waiter)
    if (this.mayMissReleases && this.state === 'sleeping') outsideRequests(tryNow, this)
  }

  /** Queues an acquisition. Its result is the reply that granted it, or undefined when its wait was over. */
  join<Grant>(attempt: Attempt<Grant>): Waiter<Grant> {
    const waiter = new Waiter(attempt, this)
    this.waiters.add(waiter)
    if (waiter.lastTry && this.state !== 'idle') this.awaitAnswer(waiter)
    if (this.stopListening) catchUp(this, waiter)
    if (this.state === 'idle') outsideThreads(() => this.begin(waiter))
    return waiter
  }

  /** The lock may have changed: the first waiter tries again. */
  wake(message?: string): void {
    this.wakeUps++
    this.sleeping?.restartBackOff()
    if (message !== undefined && message === this.lock.policy.grantedBy) grantByMessage(this)
    if (this.state === 'sleeping') outsideRequests(tryInTurn, this)
  }

  /** The reason to yield to other processes may be gone: decides again whether to yield. */
  reconsider(): void {
    if (this.state === 'sleeping' && this.sleeping?.next === 'tryNow') outsideRequests(tryInTurn, this)
  }

  /**
   * A hold of this client ends, and hands the lock to the first waiter. Then it is not released. Undefined if no waiter sleeps
   * here, or if other processes should have a chance. `leaseLeft`: how long the server may still keep the hold, in ms.
   */
  handOff(giver: string, leaseLeft: number): AnyScriptCall | undefined {
    const waiter = this.waiters.first
    if (this.state !== 'sleeping' || !waiter?.attempt.takeOver) return undefined
    // Waiters of other clients sleep for the TTL that they read. A handoff publishes no message, so it must not shorten it.
    if (waiter.attempt.lease < leaseLeft || !this.cohort.handOff()) return undefined
    return outsideThreads(() => this.sendTry(waiter, giver))
  }

  /**
   * A caller of this client passes its permits on to the first waiter, if this one needs exactly these. Returns whether it did.
   * Nothing is sent, because the number on the server stays the same. While the first waiter asks the server for as many, the
   * permits go to the one behind it.
   */
  passOn(needsThese: (attempt: Attempt<unknown>) => boolean): boolean {
    // Other permits are free, or too few for a waiter, or the semaphore may not exist: the server decides who gets these.
    if (this.left === undefined || this.left < 0) return false
    for (const waiter of this.waiters) {
      if (!needsThese(waiter.attempt)) return false
      if (waiter.isTrying) continue
      if (waiter.mayBeGranted || !this.cohort.handOff()) return false
      waiter.succeed(unasked(this.environment.clock))
      return true
    }
    return false
  }

  /** @internal How many wait here, and whether the first of them sleeps until it is notified. */
  inspect(): { waiting: number; isAsleep: boolean } {
    return {
      waiting: [...this.waiters].length,
      isAsleep: this.state === 'sleeping' && this.environment.isConfirmed(this.lock),
    }
  }

  /** Rejects the waiters that are descendants of this thread. It holds the lock now, and they re-enter its hold. */
  letBranchesIn(thread: LogicalThread): void {
    for (const waiter of [...this.waiters])
      if (waiter.attempt.thread?.isBelow(thread)) waiter.fail(ANCESTOR_ACQUIRED)
  }

  /** Rejects every waiter. */
  close(error: unknown): void {
    for (const waiter of [...this.waiters]) waiter.fail(error)
  }

  override leave(waiter: AnyWaiter): void {
    super.leave(waiter)
    const wasFirst = this.waiters.first === waiter
    this.waiters.remove(waiter)
    if (this.state !== 'sleeping') return
    if (this.isEmpty) this.finish()
    // Permits are free, but too few for the waiter that left. The next one may need less.
    else if (wasFirst && (this.left ?? 0) > 0) queueMicrotask(() => this.wake())
  }

  private begin(waiter: AnyWaiter) {
    this.cohort.come()
    // If the subscription of an earlier queue is still confirmed, the second try is not needed. Behind a hold of this client
    // the first is not needed either.
    if (this.environment.isConfirmed(this.lock)) {
      this.startListening()
      const held = waiter.attempt.takeOver && !waiter.lastTry ? this.environment.surelyHeldFor(this.lock) : 0
      this.knownHeld = held > 0
      if (held > 0) return this.sleep(Math.min(held, LONGEST_WITHOUT_TRY))
    }
    this.tryInTurn()
  }

  private finish() {
    this.state = 'idle'
    this.sleeping?.cancel()
    this.stopWatching?.()
    this.stopWatching = undefined
    this.stopListening?.()
    this.stopListening = undefined
    this.environment.empty(this)
  }

  private startListening() {
    this.stopListening = this.environment.listen(this.lock, (message) => this.wake(message))
    for (const waiter of this.waiters) catchUp(this, waiter)
  }

  /** Yields to other processes if it is their turn, and then tries. */
  tryInTurn(): void {
    const waiter = this.waiters.first
    if (!waiter) return this.finish()
    const back = this.yieldFor(waiter)
    if (back <= 0) return this.sendCompetingTry(waiter)
    // If every first try succeeded so far, no waiter has subscribed yet. The queue must hear the releases of others.
    if (!this.stopListening) this.startListening()
    this.sleepFor(back, 'tryNow')
  }

  /** How long to yield, in ms: not with a short wait, and for half of the remaining wait at most. */
  private yieldFor(waiter: AnyWaiter): number {
    if (waiter.remainingWait <= SHORT_WAIT) return 0
    return Math.min(this.cohort.yieldTime(), waiter.remainingWait / 2)
  }

  /** The first waiter tries, without a yield. */
  tryNow(): void {
    const waiter = this.waiters.first
    if (waiter) this.sendCompetingTry(waiter)
    else this.finish()
  }

  private sendCompetingTry(waiter: AnyWaiter) {
    this.cohort.willTry(this.environment.isConfirmed(this.lock))
    this.sendTry(waiter, undefined)
  }

  get cohort(): CohortPolicy {
    return this.environment.cohort(this.lock)
  }

  /** Sends one try for one waiter. The queue goes on when it is answered, or when the waiter leaves. */
  private sendTry(waiter: AnyWaiter, giver: string | undefined): AnyScriptCall {
    this.sleeping?.end()
    this.state = 'trying'
    this.isCompeting = giver === undefined
    this.seen = this.wakeUps
    waiter.isAwaited = true
    if (this.lock.policy.next === 'granted') {
      this.openings ??= new Openings()
      this.openings.ask(this.environment.clock)
    }
    const call = waiter.startTry(giver)
    this.silentSince ??= call.started
    call.whenAnswered(
      (reply) => {
        if (!waiter.settled) this.proceed(this.tryAnswered(waiter, reply))
      },
      (error) => {
        if (!waiter.settled) this.proceed(this.tryFailed(waiter, error, call))
      },
    )
    return call
  }

  // One abort may remove several waiters, one after the other. The queue goes on after the last of them, not at once.
  override leftDuringTry(): void {
    outsideRequests(() => queueMicrotask(() => this.proceed(LEFT)))
  }

  private proceed(step: Step): void {
    if (this.isEmpty) return this.finish()
    if (step.kind === 'left') return this.tryInTurn()
    this.left = step.left
    // Permits that are released here go to the server until this queue listens. So it also listens if a wake-up came.
    const mayTry = step.left === undefined || (step.left > 0 && this.wakeUps === this.seen)
    if (step.kind === 'acquired' && mayTry && this.lock.policy.next !== 'waits')
      return void this.sendTry(this.waiters.first!, undefined)
    if (!this.stopListening) {
      this.startListening()
      // The subscription is confirmed already, but a message may have come before the queue listened.
      if (this.environment.isConfirmed(this.lock)) return this.tryInTurn()
    }
    // Without a wake-up since the try was sent, its answer is still valid. After an acquisition, `remaining` is the granted
    // lease.
    if (this.wakeUps === this.seen) this.sleep(step.remaining)
    else this.tryInTurn()
  }

  private tryAnswered(waiter: AnyWaiter, reply: Reply<Outcome<unknown>>): Step {
    waiter.endTry(reply.connectionBroke)
    waiter.isAwaited = false
    this.silentSince = undefined
    const { value: outcome } = reply
    if (outcome.granted && !reply.acknowledged) return stepWithoutReplica(waiter)
    if (outcome.granted) {
      if (this.isCompeting) this.cohort.begin()
      waiter.succeed(reply as GrantedReply<unknown>)
      this.learn(this.lock.policy.next === 'waits' || outcome.left === 0)
      if (this.lock.policy.next === 'granted') grantByReply(this, reply as GrantedReply<unknown>)
      return { kind: 'acquired', remaining: waiter.attempt.lease, left: outcome.left }
    }
    waiter.unacknowledged = 0
    const nextLook = outcome.opening && this.openings?.grant(this, reply.sent, outcome.opening)
    if (waiter.lastTry) waiter.giveUp()
    this.learn(true)
    const remaining = Math.min(outcome.blockedFor, nextLook ?? Number.POSITIVE_INFINITY)
    return { kind: 'blocked', remaining, left: outcome.left }
  }

  private tryFailed(waiter: AnyWaiter, error: unknown, call: AnyScriptCall): Step {
    waiter.isAwaited = false
    this.knownHeld = false
    this.silentSince = undefined
    return stepAfterFailure(this, waiter, error, call)
  }

  private sleep(remaining: number) {
    this.sleeping ??= new QueueSleep(this)
    this.sleepFor(this.sleeping.longest(remaining), 'tryInTurn')
    this.stopWatching ??= this.environment.watch(this)
  }

  private sleepFor(time: number, next: AfterSleep) {
    this.state = 'sleeping'
    this.sleeping ??= new QueueSleep(this)
    this.sleeping.start(time, next)
  }
}

// They are functions of the module and no closures, because a queue is made for each acquisition of a free lock.
const tryInTurn = (queue: WaitQueue) => queue.tryInTurn()
const tryNow = (queue: WaitQueue) => queue.tryNow()
