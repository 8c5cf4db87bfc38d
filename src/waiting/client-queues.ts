import type { LeaseRegistry } from '../leases/lease-monitor'
import type { LogicalThread } from '../ownership/logical-thread'
import type { WaitTarget } from './admission'
import type { Attempt, BelowHold, WaitResult } from './attempt'
import type { Cohort } from './cohort'
import { SelfDeadlockWarning } from './self-deadlock-warning'
import type { WaitEnvironment } from './wait-environment'
import { WaitQueue } from './wait-queue'
import { type AnyWaiter, Waiter } from './waiter'

export interface ClientQueuesOptions extends Omit<WaitEnvironment, 'selfWait' | 'queues'> {
  readonly leases: LeaseRegistry
  /**
   * Whether the answer to PUBLISH counts all clients that heard the message. In a cluster it counts only
   * those that listen at the same node.
   */
  readonly audienceIsKnown: boolean
  /**
   * Learns which releases the server refused to publish. Once the server has refused one, it also learns
   * which ones the server published.
   */
  readonly messages: {
    readonly hasRefused: boolean
    published(object: Freed): void
    refused(object: Freed): void
  }
}

type Freed = Pick<WaitTarget, 'objectId' | 'relatedIds' | 'subject' | 'channel' | 'takesTurns' | 'allLeft'>

/** The answer of a script that changed an object, and published that. */
const PUBLISHED = 1
/** The server refused the message (ACL). */
const UNPUBLISHED = 2

/** Why a release of permits made none free. */
type NoPermits = 'absent' | 'too-large' | 'below-one'

/** The answer to a release. */
export interface Released {
  /** `reduced`: levels or holds remain, and the last of them notifies. All others: nothing is free. */
  readonly result: 'freed' | 'reduced' | 'not-held' | 'other-lease' | NoPermits | 'unknown'
  /** How many clients the server notified; undefined: it refused to publish. */
  readonly notified?: number | undefined
  /** How many other clients may wait for what was released, where the object knows it better. */
  readonly others?: number | undefined
}

/** All queues of a client: for each object that its callers wait for, and for each waiter of a fair lock. */
export class ClientQueues {
  private readonly queues = new Map<string, WaitQueue>()
  readonly selfWait: SelfDeadlockWarning
  private readonly environment: WaitEnvironment

  constructor(private readonly options: ClientQueuesOptions) {
    const { clock, leases, clientAndServer } = options
    this.selfWait = new SelfDeadlockWarning(clock, leases, clientAndServer)
    this.environment = { ...options, selfWait: this.selfWait, queues: this.queues }
  }

  acquire<Grant>(target: WaitTarget, attempt: Attempt<Grant>): Promise<WaitResult<Grant> | BelowHold> {
    let queue = this.queues.get(target.objectId)
    if (queue?.first && attempt.waitTime <= 0) {
      // The waiters here came first, so a single try must not go ahead of them.
      if (queue.isKnownHeld()) return Promise.resolve(undefined)
      if (queue.admission.shared) queue = new WaitQueue(target, this.environment)
    }
    return new Promise((resolve) => {
      const waiter = new Waiter(attempt, this.environment, resolve)
      if (!queue) {
        queue = new WaitQueue(target, this.environment)
        this.queues.set(target.objectId, queue)
      }
      queue.join(waiter)
    })
  }

  /** The queue of this object, if a caller waits for it. */
  of({ objectId }: Pick<WaitTarget, 'objectId'>): WaitQueue | undefined {
    return this.queues.get(objectId)
  }

  /** This client has just sent a release of the object. Its answer decides who wakes the waiters here. */
  async followRelease<R extends { readonly value: Released }>(object: Freed, answer: Promise<R>): Promise<R> {
    const isEchoExpected = this.isHeard(object)
    const next = this.queues.get(object.objectId)?.first
    this.cohortOf(object)?.release(isEchoExpected, next !== undefined && !next.attempt.takeOver)
    let released: Released = { result: 'unknown' }
    try {
      const reply = await answer
      released = reply.value
      return reply
    } finally {
      this.answered(object, released, isEchoExpected)
    }
  }

  /**
   * Takes the answer to a release, and decides who wakes the waiters here. Where this client hears the
   * message, that wakes them, like the waiters of other clients. The cohort is that of an object that takes
   * turns.
   *
   * | Answer                 | Heard here | Cohort      | Who wakes the waiters    | `messages` |
   * | ---------------------- | ---------- | ----------- | ------------------------ | ---------- |
   * | reduced                | any        |             | the release that frees   |            |
   * | not freed, or unknown  | any        | notReleased | this method              |            |
   * | freed, message refused | any        | released    | this method              | refused    |
   * | freed, message sent    | yes        | released    | the message (a)          | published  |
   * | freed, message sent    | no         | released    | this method              | published  |
   *
   * (a) A queue that yields decides again at once: perhaps no other client heard the message.
   */
  private answered(object: Freed, { result, notified, others }: Released, isEchoExpected: boolean) {
    if (result === 'reduced') return
    if (result !== 'freed') {
      this.cohortOf(object)?.notReleased(isEchoExpected)
      return this.wakeWaiters(object)
    }
    const { messages } = this.options
    const { relatedIds, takesTurns } = object
    const isHeard = this.isHeard(object)
    if (takesTurns) this.endTurn(object, others ?? this.othersAmong(notified ?? 0, isHeard))
    if (notified === undefined) return this.refused(object)
    if (messages.hasRefused) messages.published(object)
    if (isHeard) for (const id of relatedIds) this.queues.get(id)?.reconsider()
    else if (relatedIds.some((id) => this.queues.has(id))) this.wakeWaiters(object)
  }

  /**
   * Takes the answer of another script that changes the object. Its message wakes the waiters here, too. If
   * the server refused the message, this method wakes them. Any other answer says nothing of a message.
   */
  changed(object: Freed, answer: number): void {
    const { messages } = this.options
    if (answer === UNPUBLISHED) this.refused(object)
    else if (answer === PUBLISHED && messages.hasRefused) messages.published(object)
  }

  private refused(object: Freed) {
    this.options.messages.refused(object)
    this.wakeWaiters(object)
  }

  /** Whether a message about this object arrives here. */
  private isHeard({ channel }: Freed): boolean {
    const { subscriptions } = this.options
    return subscriptions.channels.has(channel) && subscriptions.isConfirmed(channel)
  }

  /** How this process takes turns at the object; undefined where it does not, or has no cohort yet. */
  private cohortOf({ channel, takesTurns }: Pick<Freed, 'channel' | 'takesTurns'>): Cohort | undefined {
    return takesTurns ? this.options.subscriptions.channels.get(channel)?.cohort : undefined
  }

  /**
   * How many other clients heard a release. `notified` counts this client, too, if the message `isHeard`
   * here.
   */
  private othersAmong(notified: number, isHeard: boolean): number {
    if (this.options.audienceIsKnown) return Math.max(0, notified - (isHeard ? 1 : 0))
    return notified > 0 || isHeard ? 1 : 0
  }

  private endTurn(object: Freed, others: number) {
    // A client whose callers never waited is not subscribed. It keeps a cohort all the same, because other
    // clients that wait must get their chance.
    const cohort = others > 0 ? this.options.subscriptions.keepCohort(object) : this.cohortOf(object)
    cohort?.released(others)
  }

  /** The object may be free, and perhaps no message says so: the waiters here try on their own. */
  wakeWaiters({ channel, relatedIds }: Pick<Freed, 'channel' | 'relatedIds'>): void {
    this.options.subscriptions.wake(channel)
    for (const id of relatedIds) this.queues.get(id)?.wake()
  }

  /** Every caller that waits, and the object for which it waits. */
  *waiting(): Iterable<{ readonly target: WaitTarget; readonly waiter: AnyWaiter }> {
    for (const queue of this.queues.values())
      for (const waiter of queue) yield { target: queue.target, waiter }
  }

  /**
   * The thread holds this lock now. Its descendants stop waiting in any queue of the lock: each of them
   * re-enters that hold, or learns that it would wait for it.
   */
  letBranchesIn({ objectId }: Pick<WaitTarget, 'objectId'>, thread: LogicalThread): void {
    for (const queue of this.queues.values())
      if (queue.target.relatedIds.includes(objectId))
        for (const waiter of [...queue])
          if (waiter.attempt.thread?.isBelow(thread)) waiter.giveUp('below a hold')
  }

  close(error: unknown): void {
    for (const queue of this.queues.values()) for (const waiter of [...queue]) waiter.fail(error)
  }

  /** Every object that is waited for may have changed. */
  wakeAll(): void {
    for (const queue of this.queues.values()) queue.wake()
  }

  /** Whether this process should yield to others. A try without a wait would not yield. */
  mustYield(target: Pick<WaitTarget, 'channel' | 'takesTurns'>): boolean {
    return (this.cohortOf(target)?.yieldTime() ?? 0) > 0
  }
}
