import type { Moment } from '../util/clock'
import type { WaitQueueEnvironment } from './wait-target'
import type { AnyWaiter, WaiterQueue } from './waiter'

/** A try that is unanswered for this long is no slow one any more. */
const SILENT_AFTER = 3_000

/**
 * What the tries of one queue have learned of their lock. A server that does not answer is not a lock that is held: a
 * waiter whose wait is over answers "not acquired" only where the lock is known to be held. Else it takes the answer to
 * the attempt in flight, its own or that of the first waiter, or rejects.
 */
export abstract class LastAnswer implements WaiterQueue {
  /** The last answer said so, or the hold is one of this client. */
  protected knownHeld = false
  /** When the first try began that has no answer. */
  protected silentSince: Moment | undefined
  /** Waiters whose wait is over, and who have no try of their own. */
  private overdue: Set<AnyWaiter> | undefined

  abstract readonly mayMissReleases: boolean

  constructor(readonly around: WaitQueueEnvironment) {}

  isKnownHeld(): boolean {
    const { knownHeld, silentSince } = this
    return knownHeld && (!silentSince || this.around.clock.elapsedSince(silentSince) < SILENT_AFTER)
  }

  awaitAnswer(waiter: AnyWaiter): void {
    this.overdue ??= new Set()
    this.overdue.add(waiter)
  }

  leave(waiter: AnyWaiter): void {
    this.overdue?.delete(waiter)
  }

  /** A try was answered. */
  protected learn(isHeld: boolean): void {
    this.knownHeld = isHeld
    if (isHeld && this.overdue) for (const waiter of [...this.overdue]) waiter.giveUp()
  }
}
