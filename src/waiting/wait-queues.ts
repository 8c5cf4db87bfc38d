import type { LeaseRegistry } from '../leases/lease-registry'
import type { LogicalThread } from '../ownership/logical-thread'
import type { AnyScriptCall } from '../scripts/script-call'
import type { Clock, Moment } from '../util/clock'
import type { Attempt } from './attempt'
import { type CohortPolicy, NO_COHORT } from './cohort'
import { SelfDeadlockWarning } from './self-deadlock-warning'
import type { Subscriptions } from './subscriptions'
import type { WaitPolicy } from './wait-policy'
import { WaitQueue } from './wait-queue'
import type { WaitQueueEnvironment, WaitSettings, WaitTarget } from './wait-target'
import type { GrantedReply } from './waiter'

export interface WaitQueuesOptions extends WaitSettings {
  readonly scripts: { readonly isServerAway: boolean }
  readonly subscriptions: Subscriptions
  readonly leases: LeaseRegistry
  /**
   * Whether the answer to PUBLISH counts all clients that heard the message. In a cluster it counts only those that listen at
   * the same node.
   */
  readonly audienceIsKnown: boolean
}

type Freed = Pick<WaitTarget, 'lockIds' | 'channel' | 'policy'>

/** All queues of a client: one for each lock that a caller is acquiring. */
export class WaitQueues implements WaitQueueEnvironment<WaitQueue> {
  readonly clock: Clock
  readonly clientId: string
  readonly grace: number
  readonly longestSleep: number
  readonly unavailableAfter: number
  private readonly queues = new Map<string, WaitQueue>()
  /** The queues of waiters whose order is kept on the server: one for each waiter. */
  private readonly placed = new Set<WaitQueue>()
  private readonly selfWait: SelfDeadlockWarning

  constructor(private readonly options: WaitQueuesOptions) {
    this.clock = options.clock
    this.clientId = options.clientId
    this.grace = options.grace
    this.longestSleep = options.longestSleep
    this.unavailableAfter = options.unavailableAfter
    this.selfWait = new SelfDeadlockWarning(options.clock, options.leases, options.clientId)
  }

  get isServerAway(): boolean {
    return this.options.scripts.isServerAway
  }

  /** Resolves with the reply that granted the lock, or with undefined when the wait was over. */
  acquire<Grant>(lock: WaitTarget, attempt: Attempt<Grant>): Promise<GrantedReply<Grant> | undefined> {
    let queue = this.queues.get(lock.lockId)
    if (queue?.isEmpty === false && (attempt.waitTime ?? 1) <= 0) {
      // The waiters here came first, so a single try must not go ahead of them. No one waits for another at a latch.
      if (lock.policy.next !== 'granted' && queue.isKnownHeld()) return Promise.resolve(undefined)
      // Several owners may enter together, so a single try does not wait for the round trips of the waiters before it.
      if (lock.policy.next !== 'waits') return new WaitQueue(lock, this).join(attempt).result
    }
    if (!queue) {
      queue = new WaitQueue(lock, this)
      this.queues.set(lock.lockId, queue)
      if (lock.policy.queuedOnServer) this.placed.add(queue)
    }
    return queue.join(attempt).result
  }

  /** Hands the lock to the first local waiter. Undefined if the lock must be released with a message. */
  handOff(lockId: string, giver: string, leaseLeft: number): AnyScriptCall | undefined {
    return this.queues.get(lockId)?.handOff(giver, leaseLeft)
  }

  /** Passes permits on to the first waiter of this client, so that they are not released. Returns whether it did. */
  passOn(lockId: string, needsThese: (attempt: Attempt<unknown>) => boolean): boolean {
    return this.queues.get(lockId)?.passOn(needsThese) ?? false
  }

  /** This client is about to release the lock. */
  releasing({ lockId, channel, policy }: Freed & Pick<WaitTarget, 'lockId'>): void {
    const { subscriptions } = this.options
    const cohort = policy.yields ? subscriptions.cohort(channel) : undefined
    if (!cohort) return
    const next = this.queues.get(lockId)?.waiters.first
    cohort.release(subscriptions.isConfirmed(channel), next !== undefined && !next.attempt.takeOver)
  }

  /**
   * This client released the lock, and the server notified this many clients. Undefined: it refused to publish. The server's
   * message wakes the first local waiter, like the waiters of other clients. If the message was not sent, or may not arrive,
   * this method wakes it.
   */
  freed(lock: Freed, notified: number | undefined): void {
    const isHeard = this.options.subscriptions.isConfirmed(lock.channel)
    if (lock.policy.yields)
      this.endCohort(lock.channel, this.othersAmong(lock.policy, notified ?? 0, isHeard), isHeard)
    if (this.queues.size === 0) return
    if (notified !== undefined && isHeard) for (const id of lock.lockIds) this.queues.get(id)?.reconsider()
    else if (notified === undefined || lock.lockIds.some((id) => this.queues.has(id))) this.mayBeFree(lock)
  }

  /** How many other clients heard a release. `notified` counts this client, too, if the message `isHeard` here. */
  private othersAmong({ passesPermits }: WaitPolicy, notified: number, isHeard: boolean): number {
    // The release of a permit that none of them waits for.
    if (passesPermits && notified === 0) return 0
    if (this.options.audienceIsKnown) return Math.max(0, notified - (isHeard ? 1 : 0))
    return notified > 0 || isHeard ? 1 : 0
  }

  private endCohort(channel: string, others: number, isHeard: boolean) {
    const { subscriptions } = this.options
    // A client whose callers never waited is not subscribed. It keeps a cohort all the same, because other clients that wait
    // must get their chance.
    const cohort = others > 0 ? subscriptions.keepCohort(channel) : subscriptions.cohort(channel)
    if (cohort?.released(others, isHeard)) subscriptions.stopLingering(channel)
  }

  /** The server notified no client, and the lock may be free: local waiters try on their own. */
  mayBeFree({ channel, lockIds }: Omit<Freed, 'policy'>): void {
    this.options.subscriptions.wake(channel)
    for (const id of lockIds) this.queues.get(id)?.wake()
  }

  /** Wakes the first waiter of this queue. */
  wake(lockId: string): void {
    this.queues.get(lockId)?.wake()
  }

  /** How many callers wait. */
  get waiting(): number {
    let waiting = 0
    for (const queue of this.queues.values()) waiting += queue.inspect().waiting
    return waiting
  }

  /** @internal How many queues there are. */
  stats(): { queues: number } {
    return { queues: this.queues.size }
  }

  /** @internal How many wait for this lock, and whether the first of them sleeps until it is notified. */
  inspect(lockId: string): { waiting: number; isAsleep: boolean } {
    return this.queues.get(lockId)?.inspect() ?? { waiting: 0, isAsleep: false }
  }

  /**
   * The thread holds this lock now and excludes all others. Its descendants that wait in any queue of the lock re-enter its
   * hold.
   */
  letBranchesIn({ lockId, lockIds }: Pick<WaitTarget, 'lockId' | 'lockIds'>, thread: LogicalThread): void {
    for (const id of lockIds) this.queues.get(id)?.letBranchesIn(thread)
    for (const queue of this.placed) if (queue.lock.lockIds.includes(lockId)) queue.letBranchesIn(thread)
  }

  close(error: unknown): void {
    for (const queue of this.queues.values()) queue.close(error)
  }

  listen({ channel }: WaitTarget, wake: (message?: string) => void): () => void {
    return this.options.subscriptions.listen(channel, { wake })
  }

  whenCaughtUp({ channel }: WaitTarget, callback: () => void): void {
    this.options.subscriptions.whenCaughtUp(channel, callback)
  }

  isConfirmed({ channel }: WaitTarget): boolean {
    return this.options.subscriptions.isConfirmed(channel)
  }

  cohort({ channel, policy }: WaitTarget): CohortPolicy {
    return (policy.yields ? this.options.subscriptions.cohort(channel) : undefined) ?? NO_COHORT
  }

  /** Whether this process should yield to others. A try without a wait would not yield. */
  mustYield(lock: WaitTarget): boolean {
    return this.cohort(lock).yieldTime() > 0
  }

  watch(queue: WaitQueue): () => void {
    return this.selfWait.watch(queue.lock, () => queue.waiters)
  }

  /** A branch waits for its siblings since `joined`. Returns a function to call when it no longer waits. */
  watchSelfWait(target: Pick<WaitTarget, 'key' | 'lockIds'>, joined: Moment): () => void {
    return this.selfWait.watch(target, () => [{ joined }])
  }

  surelyHeldFor(target: WaitTarget): number {
    const hold = this.options.leases.first(target)
    if (!hold || !this.options.subscriptions.isQuietSince(target.channel, hold.book.term.since)) return 0
    return hold.book.remaining()
  }

  empty(queue: WaitQueue): void {
    const { lockId } = queue.lock
    if (!queue.isEmpty || this.queues.get(lockId) !== queue) return
    this.queues.delete(lockId)
    this.placed.delete(queue)
  }
}
