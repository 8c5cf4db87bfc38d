import { outsideThreads } from '../ownership/logical-thread'
import type { AnyScriptCall } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import type { Moment } from '../util/clock'
import { queueMicrotask, setImmediate } from '../util/timers'
import type { Admission, Next, TryReply, Waiters, WaitTarget } from './admission'
import { MOST_TOGETHER } from './admission'
import type { Cohort } from './cohort'
import type { QueuePhase } from './queue-phase'
import type { WaitEnvironment } from './wait-environment'
import type { AnyWaiter, WaiterQueue } from './waiter'
import { WakeUps } from './wake-ups'

/** After this long without an answer, in ms, the server counts as silent and not as slow. */
const SILENT_AFTER = 3_000

/**
 * The queue of one process for one object: first come, first served. The first waiter tries; where several
 * may enter (Admission), as many try in one write as may.
 *
 * The queue may sleep when it has sent a try under a confirmed subscription, and no wake-up has come since.
 * Without a confirmed one it rechecks each second. Every message, and every confirmation or break of the
 * subscription, is a wake-up. It belongs to the queue: if the first waiter has left, the next one takes it.
 *
 * A silent server does not mean that the object is held. So a waiter whose wait is over resolves with "not
 * acquired" only if the object is known to be held, or the server answers a try of the queue after that.
 */
export class WaitQueue implements Waiters, WaiterQueue {
  first: AnyWaiter | undefined
  private last: AnyWaiter | undefined
  private phase: QueuePhase = 'idle'
  /** A wake-up has come since its tries were sent. */
  private isWoken = false
  /** Those whose tries have no answer yet, in the order in which they tried. */
  private readonly trying = new Set<AnyWaiter>()
  /** The last answer said that the object is held. */
  private knownHeld = false
  /** Since when the server has answered no try. That a waiter leaves does not change it. */
  private silentSince: Moment | undefined
  private rules: Admission | undefined
  /** Waiters that are overdue, or were before their last try. */
  private overdue: Set<AnyWaiter> | undefined
  /** While it listens. */
  private wakeUps: WakeUps | undefined

  constructor(
    readonly target: WaitTarget,
    readonly environment: WaitEnvironment,
  ) {}

  *[Symbol.iterator](): Iterator<AnyWaiter> {
    for (let waiter = this.first; waiter; ) {
      const { behind }: AnyWaiter = waiter
      yield waiter
      waiter = behind
    }
  }

  get admission(): Admission {
    this.rules ??= this.target.admission()
    return this.rules
  }

  /** Whether the object is known to be held, and the server has not been silent since. */
  isKnownHeld(): boolean {
    const { knownHeld, silentSince } = this
    return knownHeld && (!silentSince || this.environment.clock.elapsedSince(silentSince) < SILENT_AFTER)
  }

  /** It is not known that the object is held, or it may have become free without a message. */
  mayBeFree(): boolean {
    return this.phase === 'rechecking' || !this.isKnownHeld()
  }

  /** Takes a new waiter. If it is the first one, it tries. */
  join(waiter: AnyWaiter): void {
    waiter.queue = this
    waiter.before = this.last
    if (this.last) this.last.behind = waiter
    else this.first = waiter
    this.last = waiter
    if (this.phase === 'idle') this.begin()
    else if (waiter.isOverdue) this.awaitAnswer(waiter)
  }

  /** The object may have changed: the first waiter tries again. */
  wake(): void {
    this.admission.heard()
    this.isWoken = true
    if (this.isResting) this.tryInTurn()
  }

  /** The reason to yield to other processes may be gone: decides again whether to yield. */
  reconsider(): void {
    if (this.phase === 'yielding') this.tryInTurn()
  }

  /**
   * A hold of this client ends, and hands the lock to the first waiter. Then it is not released. Undefined if
   * no waiter sleeps here, or if other processes should have a chance. `longest`: the longest lease that the
   * hold ever had, in ms.
   */
  handOff(giver: string, longest: number): AnyScriptCall | undefined {
    const waiter = this.first
    // A try of it may hold the lock already, and would answer in place of the handoff.
    if (!this.isResting || !waiter?.attempt.takeOver || waiter.mayBeGranted) return undefined
    // Waiters of other clients sleep for the TTL that they read: without a message, none may shorten it.
    if (waiter.attempt.lease! < longest || !this.takeHandoff()) return undefined
    // It is also the release, and belongs to the request of that. It may outlive the thread of it.
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
    if (this.phase === 'rechecking' || this.phase === 'yielding') this.tryNow()
  }

  leave(waiter: AnyWaiter): void {
    const { before, behind } = waiter
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    waiter.before = waiter.behind = undefined
    this.overdue?.delete(waiter)
    if (this.isResting && !this.first) this.finish()
    if (this.trying.delete(waiter)) this.goOnSoon()
  }

  /**
   * A thousand waiters may fail one after the other, each at once, and one abort may remove several: the
   * queue goes on after the last of them.
   */
  private goOnSoon() {
    if (this.trying.size > 0) return
    this.phase = 'tried'
    queueMicrotask(() => this.phase === 'tried' && this.tryInTurn())
  }

  private get isResting(): boolean {
    return this.phase === 'sleeping' || this.phase === 'rechecking' || this.phase === 'yielding'
  }

  private begin() {
    // If the subscription of an earlier queue is still confirmed, the second try is not needed.
    if (this.isConfirmed) this.listen()
    this.tryInTurn()
  }

  private finish() {
    this.phase = 'idle'
    this.wakeUps?.end()
    this.wakeUps = undefined
    const { queues } = this.environment
    const { objectId } = this.target
    if (!this.first && queues.get(objectId) === this) queues.delete(objectId)
  }

  private listen(): WakeUps {
    const onDue = () => (this.phase === 'yielding' ? this.tryNow() : this.tryInTurn())
    this.wakeUps ??= new WakeUps(this, () => this.wake(), onDue)
    return this.wakeUps
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
  private tryInTurn(): void {
    const waiter = this.first
    if (!waiter) return this.finish()
    const time = this.cohort?.yieldTimeOf(waiter) ?? 0
    if (time <= 0) return this.tryNow()
    this.phase = 'yielding'
    // If every first try succeeded, no waiter has subscribed yet. The queue must hear releases.
    this.listen().timer.set(time)
  }

  /** The first waiter tries, and those that may enter together with it. */
  private tryNow(): void {
    const { first } = this
    if (!first) return this.finish()
    const isFirstTry = this.phase === 'idle'
    this.beginTries()
    // It belongs to the request of its caller. Calls of others lead to the later ones: these belong to none.
    if (isFirstTry) return void this.sendTry(first)
    outsideRequests(() => {
      if (!first.behind) return void this.sendTry(first)
      const together: AnyWaiter[] = []
      for (const waiter of this.admission.together(this)) if (together.push(waiter) === MOST_TOGETHER) break
      // Code of the user may run while one of them is sent, and may abort another one.
      for (const waiter of together) if (!waiter.isSettled) this.sendTry(waiter)
    })
  }

  private beginTries() {
    this.wakeUps?.timer.disarm()
    this.isWoken = false
  }

  /** The queue goes on when the last try is answered, or when its waiter leaves. */
  private sendTry(waiter: AnyWaiter, giver?: string): AnyScriptCall {
    this.trying.add(waiter)
    this.phase = 'trying'
    const call = waiter.startTry(giver)
    this.silentSince ??= call.started
    // A waiter that has left meanwhile is not among them any more.
    call.whenAnswered(
      (reply) => this.trying.delete(waiter) && this.tryAnswered(waiter, reply, giver === undefined),
      (error) => this.trying.delete(waiter) && this.tryFailed(waiter, error, call),
    )
    return call
  }

  /** `isCompeting`: with all clients. If not, the try took over from a hold of this client. */
  private tryAnswered(waiter: AnyWaiter, reply: TryReply, isCompeting: boolean) {
    this.silentSince = this.trying.size === 0 ? undefined : this.environment.clock.now()
    const result = waiter.answered(reply, isCompeting)
    if (result === 'entered' && isCompeting) this.cohort?.begin(this.isConfirmed)
    const isKnown = result === 'entered' || result === 'blocked'
    const next = isKnown && this.first ? this.admission.next(reply, waiter.attempt, this) : 'unknown'
    this.knownHeld = typeof next === 'object'
    if (this.knownHeld || result === 'again') this.endOverdue()
    if (result === 'again') this.sendTry(waiter)
    else if (this.trying.size === 0) this.goOn(next)
  }

  /** The last try was answered. */
  private goOn(next: Next | 'unknown') {
    if (!this.first) return this.finish()
    if (typeof next === 'object') return this.sleepUnlessWoken(next.sleepFor)
    // Those that entered just now go first: they may pass permits on to waiters, which need not ask then.
    this.phase = 'tried'
    setImmediate(() => {
      if (this.phase !== 'tried') return
      if (this.isWoken) this.tryWoken()
      else this.tryNow()
      this.endOverdue()
    })
  }

  /** A wake-up came during its tries. What is released here goes to the server until this queue listens. */
  private tryWoken() {
    this.listen()
    this.tryInTurn()
  }

  /** The server answers. One that may enter with others may have a last try in flight: its answer ends it. */
  private endOverdue() {
    if (this.overdue) for (const each of [...this.overdue]) if (each.isOverdue) each.giveUp()
  }

  private tryFailed(waiter: AnyWaiter, error: unknown, call: AnyScriptCall) {
    this.silentSince = undefined
    this.knownHeld = false
    const retryAfter = waiter.tryFailed(error, call)
    if (retryAfter === undefined) return this.goOnSoon()
    // An answer to another one must not let it sleep.
    if (this.trying.size > 0) this.isWoken = true
    else this.sleepUnlessWoken(retryAfter)
  }

  /**
   * Sleeps if the answer to the last try is still valid: the queue listened, and no wake-up came since.
   * Otherwise it tries.
   */
  private sleepUnlessWoken(time: number) {
    // Where the subscription is confirmed already, a message may have come before the queue listened.
    const mayHaveMissed = this.wakeUps === undefined && this.isConfirmed
    if (this.isWoken || mayHaveMissed) this.tryWoken()
    else this.sleep(time)
  }

  /** Sleeps until a message comes, for this long in ms at most. */
  private sleep(time: number) {
    const recheckAfter = this.admission.recheckAfter(this.isConfirmed)
    this.phase = recheckAfter < Number.POSITIVE_INFINITY ? 'rechecking' : 'sleeping'
    this.listen().sleep(time, recheckAfter)
  }
}
