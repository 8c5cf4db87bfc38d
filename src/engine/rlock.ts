import type { LockCalls } from '../api/lock-calls'
import type { LockHold } from '../api/lock-hold'

/**
 * Redisson's RLock: a re-entrant lock on Redis, shared with Java services that use Redisson.
 *
 * **The owner.** Java's owner is the thread. Here the owner is the first of these: the `threadId` option; the
 * logical thread, which is all code inside `redisson.run(fn)` or `lock.withLock(fn)`; or, outside any scope,
 * the single acquisition. So two calls outside any scope exclude each other, also on one lock object.
 *
 * **Units.** Numbers are milliseconds unless a TimeUnit follows them, and are rounded up to whole ones.
 *
 * **Errors.** Every method may reject with these:
 * - {@link RedissonShutdownError} after `shutdown()`.
 * - {@link RedisUnavailableError} when the call met only connection errors, silence or a shortage (OOM,
 *   MISCONF, NOREPLICAS) for 10 s. An acquisition rejects earlier, when its wait is over.
 * - {@link RedisRefusedError} when the server refuses: a missing right, wrong credentials, an unknown
 *   command.
 * - {@link WrongTypeError} when the key holds something else.
 * - TypeError or RangeError for bad arguments. Then nothing is sent.
 */
export interface RLock<Hold extends LockHold = LockHold> extends LockCalls<Hold> {
  /** The name given to `getLock`, before any name mapper. */
  getName(): string

  /**
   * Ends the holds that it finds, of any client; resolves with whether it did. It leaves later holds alone,
   * so it resolves with false where the holder released the lock in the same moment. The holder gets a
   * LockLostError. A holder in another client notices at its next renewal: at most a third of its
   * `lockWatchdogTimeout` later.
   */
  forceUnlock(): Promise<boolean>

  /** Whether the lock is held, by any client. Asks the primary. */
  isLocked(): Promise<boolean>
  /**
   * Whether this caller holds the lock; outside any scope, whether `unlock()` would release one. Asks the
   * primary.
   */
  isHeldByCurrentThread(): Promise<boolean>
  /** Whether the caller with this `threadId` option holds the lock. Asks the primary. */
  isHeldByThread(threadId: number): Promise<boolean>
  /** How many levels this caller holds. Asks the primary. */
  getHoldCount(): Promise<number>
  /** The lease that is left, in ms; -1 without expiry, -2 when the lock is free. Asks the primary. */
  remainTimeToLive(): Promise<number>
}
