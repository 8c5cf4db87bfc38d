import { outsideThreads } from '../ownership/logical-thread'
import type { AnyScriptCall, Reply } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import { queueMicrotask, setImmediate } from '../util/timers'
import { type Admission, MOST_TOGETHER, type Next, type WaitTarget } from './admission'
import type { Attempt, Outcome } from './attempt'
import type { Cohort } from './cohort'
import { QueueState, type WaitEnvironment } from './queue-state'
import { type AnyWaiter, Waiter, type WaiterQueue, Waiters } from './waiter'

/**
 * A waiter behind a hold of its own client need not send a try. But only an answer shows a change without a
 * message, such as a DEL. So the waiter tries after this long, in ms.
 */
const LONGEST_WITHOUT_TRY = 100

/**
 * The queue of one process for one object: first come, first served. The first waiter tries; where several
 * may enter (Admission), as many try in one write as may.
 *
 * The queue may sleep when it has sent a try under a confirmed subscription, and no wake-up has come since.
 * Every message, and every confirmation or break of the subscription, is a wake-up. A wake-up belongs to the
 * queue and not to a waiter: if the first waiter has left, the next one takes it.
 *
 * A silent server does not mean that the object is held. So a waiter whose wait is over resolves with "not
 * acquired" only if the object is known to be held, or the server answers a try of the queue after that.
 */
export class WaitQueue extends QueueState implements WaiterQueue {
  readonly waiters = new Waiters()
  private rules: Admission | undefined
  /** Waiters whose wait is over and that have no try of their own. */
  private overdue: Set<AnyWaiter> | undefined
  private stopListening: (() => void) | undefined
  private stopWatching: (() => void) | undefined

  constructor(
    readonly target: WaitTarget,
    readonly environment: WaitEnvironment,
  ) {
    super()
  }

  get isEmpty(): boolean {
    return this.waiters.first === undefined
  }

  get admission(): Admission {
    this.rules ??= this.target.admission()
    return this.rules
  }

  /** Queues an acquisition. Its result is the reply that granted it, or undefined when its wait was over. */
  join<Grant>(attempt: Attempt<Grant>): Waiter<Grant> {
    const waiter = new Waiter(attempt, this)
    if (this.phase === 'idle') this.begin(waiter)
    else if (waiter.lastTry) this.awaitAnswer(waiter)
    return waiter
  }

  /** The object may have changed: the first waiter tries again. */
  wake(): void {
    this.admission.heard()
    if (this.phase === 'trying') this.phase = 'woken'
    else if (this.isResting) outsideRequests(() => this.tryInTurn())
  }

  /** The reason to yield to other processes may be gone: decides again whether to yield. */
  reconsider(): void {
    if (this.phase === 'yielding') outsideRequests(() => this.tryInTurn())
  }

  /**
   * A hold of this client ends, and hands the lock to the first waiter. Then it is not released. Undefined if
   * no waiter sleeps here, or if other processes should have a chance. `longest`: the longest lease that the
   * hold ever had, in ms.
   */
  handOff(giver: string, longest: number): AnyScriptCall | undefined {
    const waiter = this.waiters.first
    // A try of it may hold the lock already, and would answer in place of the handoff.
    if (!this.isResting || !waiter?.attempt.takeOver || waiter.mayBeGranted) return undefined
    // Waiters of other clients sleep for the TTL that they read: without a message, none may shorten it.
    if (waiter.attempt.lease! < longest || !this.takeHandoff()) return undefined
    return outsideThreads(() => {
      this.beginTries()
      return this.sendTry(waiter, giver)
    })
  }

  /** Takes one handoff of this turn for a waiter here; false: another process should have a chance. */
  takeHandoff(): boolean {
    return this.cohort?.takeHandoff() ?? false
  }

  awaitAnswer(waiter: AnyWaiter): void {
    this.overdue ??= new Set()
    this.overdue.add(waiter)
    // A caller without a wait does not yield either: it would take a queue that yields for a silent server.
    if (this.phase === 'polling' || this.phase === 'yielding') outsideRequests(() => this.tryNow())
  }

  left(waiter: AnyWaiter, duringTry: boolean): void {
    this.overdue?.delete(waiter)
    if (this.isResting && this.isEmpty) this.finish()
    if (duringTry && --this.unanswered === 0) this.goOn()
  }

  /**
   * Tries next once this turn is over. A thousand waiters may fail one after the other, each at once, and one
   * abort may remove several waiters: the queue goes on after the last of them.
   */
  private goOn() {
    outsideRequests(() => queueMicrotask(() => this.areTriesOver && this.tryInTurn()))
  }

  private get isResting(): boolean {
    return this.phase === 'sleeping' || this.phase === 'polling' || this.phase === 'yielding'
  }

  private begin(waiter: AnyWaiter) {
    // If the subscription of an earlier queue is still confirmed, the second try is not needed. Behind a hold
    // of this client the first is not needed either.
    if (this.isConfirmed) {
      this.startListening()
      const held = waiter.attempt.takeOver && !waiter.lastTry ? this.surelyHeldFor() : 0
      this.knownHeld = held > 0
      if (held > 0) return this.sleep(Math.min(held, LONGEST_WITHOUT_TRY))
    }
    this.tryInTurn()
  }

  private finish() {
    this.phase = 'idle'
    this.timer?.cancel()
    this.stopWatching?.()
    this.stopWatching = undefined
    this.stopListening?.()
    this.stopListening = undefined
    const { queues } = this.environment
    const { objectId } = this.target
    if (this.isEmpty && queues.get(objectId) === this) queues.delete(objectId)
  }

  private startListening() {
    this.stopListening = this.environment.subscriptions.listen(this.target, () => this.wake())
  }

  /** Whether the server has confirmed the subscription, so that messages arrive. */
  private get isConfirmed(): boolean {
    const { subscriptions } = this.environment
    const { channel } = this.target
    return subscriptions.channels.has(channel) && subscriptions.isConfirmed(channel)
  }

  /** How this process takes turns with others; undefined where it does not, or no caller has waited yet. */
  private get cohort(): Cohort | undefined {
    const { channel, takesTurns } = this.target
    return takesTurns ? this.environment.subscriptions.channels.get(channel)?.cohort : undefined
  }

  /** Yields to other processes if it is their turn, and then tries. */
  protected tryInTurn(): void {
    const waiter = this.waiters.first
    if (!waiter) return this.finish()
    const time = this.cohort?.yieldTime() ?? 0
    const back = time > 0 ? this.yieldOf(waiter, time) : 0
    if (back <= 0) return this.tryNow()
    // If every first try succeeded, no waiter has subscribed yet. The queue must hear releases.
    if (!this.stopListening) this.startListening()
    this.rest('yielding', back)
  }

  protected tryNow(): void {
    if (this.isEmpty) return this.finish()
    this.sendTries()
  }

  /** The first waiter tries, and those that may enter together with it. */
  private sendTries() {
    const first = this.waiters.first!
    this.beginTries()
    if (!first.behind) return void this.sendTry(first)
    const together: AnyWaiter[] = []
    for (const waiter of this.admission.together(this.waiters))
      if (together.push(waiter) === MOST_TOGETHER) break
    // Code of the user may run while one of them is sent, and may abort another one.
    for (const waiter of together) if (waiter.phase !== 'settled') this.sendTry(waiter)
  }

  private beginTries() {
    this.timer?.disarm()
    this.phase = 'trying'
  }

  /** The queue goes on when the last try is answered, or when its waiter leaves. */
  private sendTry(waiter: AnyWaiter, giver?: string): AnyScriptCall {
    this.unanswered++
    const call = waiter.startTry(giver)
    this.silentSince ??= call.started
    call.whenAnswered(
      (reply) => waiter.phase === 'settled' || this.tryAnswered(waiter, reply, giver === undefined),
      (error) => waiter.phase === 'settled' || this.tryFailed(waiter, error, call),
    )
    return call
  }

  /** `isCompeting`: with all clients. If not, the try took over from a hold of this client. */
  private tryAnswered(waiter: AnyWaiter, reply: Reply<Outcome<unknown>>, isCompeting: boolean) {
    const isLast = --this.unanswered === 0
    this.silentSince = isLast ? undefined : this.environment.clock.now()
    waiter.answered(reply)
    // No replica has its grant. It tries again at once: the answers to others say nothing of that.
    if (waiter.phase === 'waiting' && reply.value.granted) {
      this.endOverdue()
      return void this.sendTry(waiter)
    }
    const next = this.afterAnswer(waiter, reply, isCompeting)
    if (!isLast) return
    if (next === 'try') return this.tryInTurn()
    if (next === 'more may enter') return this.askForMore()
    this.endOverdue()
    if (this.isEmpty) this.finish()
    else this.sleepUnlessWoken(next)
  }

  /** What the queue does next. After 0 the next one tries: this one has failed, or was the last. */
  private afterAnswer(waiter: AnyWaiter, reply: Reply<Outcome<unknown>>, isCompeting: boolean): 'try' | Next {
    const { granted } = reply.value
    if (granted && !reply.acknowledged) return 0
    if (granted && isCompeting) this.cohort?.begin(this.isConfirmed)
    if (this.isEmpty) return 0
    // The hold that was to pass the lock on was gone: the answer does not say whether another is there.
    if (!granted && !isCompeting) {
      this.knownHeld = false
      return 'try'
    }
    const next = this.admission.next(reply, waiter.attempt, this.waiters)
    if (!granted && waiter.lastTry) waiter.giveUp()
    this.knownHeld = next !== 'more may enter'
    return next
  }

  /**
   * More may enter, after the ones that entered just now: these may pass permits on to waiters, which need
   * not ask then.
   */
  private askForMore() {
    const ask = () => {
      if (!this.areTriesOver) return
      if (this.isEmpty) return this.finish()
      // What is released here goes to the server until this queue listens: it listens after a wake-up, too.
      if (this.phase === 'trying') this.sendTries()
      else this.sleepUnlessWoken(0)
      this.endOverdue()
    }
    outsideRequests(() => setImmediate(ask))
  }

  /**
   * The server answers, and the wait of these is over. One that may enter with others has a last try in
   * flight.
   */
  private endOverdue() {
    if (this.overdue) for (const each of [...this.overdue]) if (!each.isTrying) each.giveUp()
  }

  private tryFailed(waiter: AnyWaiter, error: unknown, call: AnyScriptCall) {
    const isLast = --this.unanswered === 0
    this.silentSince = undefined
    this.knownHeld = false
    const retryAfter = waiter.tryFailed(error, call)
    // An answer to another one must not let it sleep.
    if (!isLast && retryAfter !== undefined) this.wake()
    if (!isLast) return
    if (retryAfter === undefined) this.goOn()
    else this.sleepUnlessWoken(retryAfter)
  }

  /**
   * Sleeps if the answer to the last try is still valid: the queue listened, and no wake-up came since.
   * Otherwise it tries.
   */
  private sleepUnlessWoken(time: number) {
    if (!this.stopListening) {
      this.startListening()
      // The subscription is confirmed already, but a message may have come before the queue listened.
      if (this.isConfirmed) return this.tryInTurn()
    }
    if (this.phase === 'woken') this.tryInTurn()
    else this.sleep(time)
  }

  /** Sleeps until a message comes, for this long in ms at most. */
  private sleep(time: number) {
    const { longestSleep, selfWait } = this.environment
    const longest = this.admission.longestSleep(this.isConfirmed)
    const phase = longest < Number.POSITIVE_INFINITY ? 'polling' : 'sleeping'
    this.rest(phase, Math.min(longest, time === Number.POSITIVE_INFINITY ? longestSleep : Math.max(time, 1)))
    this.stopWatching ??= selfWait.watch(this.target, () => this.waiters)
  }
}
