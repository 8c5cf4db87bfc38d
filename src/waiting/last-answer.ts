import type { Moment } from '../util/clock'
import type { WaitQueueEnvironment } from './wait-target'
import type { AnyWaiter, WaiterQueue } from './waiter'

/** After this long without an answer, in ms, the server counts as silent and not as slow. */
const SILENT_AFTER = 3_000

/**
 * What the answers to one queue say about its lock. A silent server does not mean that the lock is held. So a waiter whose
 * wait is over resolves with "not acquired" only if the lock is known to be held. Otherwise it waits for the answer to the try
 * in flight, which is its own or that of the first waiter. Without an answer it rejects.
 */
export abstract class LastAnswer implements WaiterQueue {
  /** The last answer said that the lock is held, or this client holds it. */
  protected knownHeld = false
  /** When the first of the unanswered tries was sent. */
  protected silentSince: Moment | undefined
  /** Waiters whose wait is over and that have no try of their own. */
  private overdue: Set<AnyWaiter> | undefined

  abstract readonly mayMissReleases: boolean

  abstract leftDuringTry(): void

  constructor(readonly environment: WaitQueueEnvironment) {}

  isKnownHeld(): boolean {
    const { knownHeld, silentSince } = this
    return knownHeld && (!silentSince || this.environment.clock.elapsedSince(silentSince) < SILENT_AFTER)
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
