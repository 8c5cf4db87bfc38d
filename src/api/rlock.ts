import type { LockOptions, TryLockOptions, UnlockOptions, WithLockOptions } from './arguments'
import type { LockHold } from './lock-hold'
import type { TimeUnit } from './time-unit'

/**
 * Redisson's RLock: a re-entrant lock on Redis, shared with Java services that use Redisson.
 *
 * **The owner.** Java's owner is the thread. Here the owner is the first of these: the `threadId` option; the logical
 * thread, which is all code inside `redisson.run(fn)` or `lock.withLock(fn)`; or, outside any scope, the single
 * acquisition. So two calls outside any scope exclude each other, also on one lock object.
 *
 * **Units.** Numbers are milliseconds unless a TimeUnit follows them, and are rounded up to whole ones.
 *
 * **Errors.** Every method may reject with these:
 * - {@link RedissonShutdownError} after `shutdown()`.
 * - {@link RedisUnavailableError} when the call met only connection errors, silence or a shortage (OOM, MISCONF,
 *   NOREPLICAS) for 10 s. An acquisition rejects earlier, when its wait is over.
 * - {@link RedisRefusedError} when the server refuses: a missing right, wrong credentials, an unknown command.
 * - {@link WrongTypeError} when the key holds something else.
 * - TypeError or RangeError for bad arguments. Then nothing is sent.
 */
export interface RLock {
  /** The name given to `getLock`, before any name mapper. */
  getName(): string

  /**
   * Acquires the lock; waits for it without limit. The lock is held until `unlock()`: a watchdog renews the lease of
   * `lockWatchdogTimeout` (30 s by default) at every third of it.
   *
   * Each `lock()` needs its `unlock()`, also one with a lease. Outside `redisson.run()` and `withLock()`, `unlock()` ends holds
   * of this lock object that have expired before those that are live: a late caller must not free the lock of the next one.
   * @throws {@link IllegalMonitorStateError} while this caller has another acquisition of this lock in flight.
   * @throws {@link LockLostError} when it re-enters a hold that was lost and that `unlock()` has not settled yet.
   * @throws {@link LockNotReplicatedError} with Sentinel or a cluster, when no replica acknowledged the acquisition.
   * @example
   * ```ts
   * await redisson.run(async () => {
   *   await lock.lock()
   *   try {
   *     await charge(order)
   *   } finally {
   *     await lock.unlock()
   *   }
   * })
   * ```
   */
  lock(): Promise<void>
  /**
   * The same with a lease: held for at most `leaseTime`, and not renewed. -1 means no lease, as above; 0 and
   * other negatives are RangeErrors (in Java they mean the watchdog).
   */
  lock(leaseTime: number, unit?: TimeUnit): Promise<void>
  /** The same with options; with a `signal` it is Java's `lockInterruptibly`. */
  lock(options: LockOptions): Promise<void>

  /**
   * Tries once; resolves with whether the lock is held now. Resolves with false without a try while other callers of
   * this client queue for a lock that the server said is held.
   * A silent server does not mean that the lock is held.
   * @throws {@link RedisUnavailableError} when neither the try of this call nor the try in flight before it in the queue is
   * answered within a second after the wait. Also when the last answer was "held" and a later try has had no answer for
   * three seconds.
   * @example
   * ```ts
   * import { TimeUnit } from 'rlock'
   * await lock.tryLock(1, TimeUnit.SECONDS) // → true
   * ```
   */
  tryLock(): Promise<boolean>
  /** Waits for at most `waitTime`; 0 or less is one try. */
  tryLock(waitTime: number, unit?: TimeUnit): Promise<boolean>
  /** Waits for at most `waitTime`, and holds for at most `leaseTime`. One unit for both. */
  tryLock(waitTime: number, leaseTime: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. */
  tryLock(options: TryLockOptions): Promise<boolean>

  /**
   * Releases one level of what `lock()` or `tryLock()` acquired for this caller.
   *
   * A logical thread releases a level of its own, or else a level of an ancestor. It never releases a level of a sibling
   * or a descendant that is still running. Code that runs after its thread has ended releases only what that thread
   * acquired.
   *
   * Outside any scope, `unlock()` settles a hold that was taken through this lock object, lost holds first. So a caller
   * that acquired nothing must not call it on an object that several callers share: use `withLock` or `acquire`.
   *
   * @throws {@link IllegalMonitorStateError} when this caller holds nothing.
   * @throws {@link LockLostError} when the hold was lost.
   * @throws {@link RedisUnavailableError} when the server could not be reached. The hold has ended in this client even so,
   * and the client retries the release in the background until the lease has surely ended.
   */
  unlock(options?: UnlockOptions): Promise<void>

  /**
   * Frees the lock for any holder; resolves with whether it was held. The holder gets a LockLostError. A holder in another
   * client notices at its next renewal: at most a third of its `lockWatchdogTimeout` later.
   */
  forceUnlock(): Promise<boolean>

  /** Whether the lock is held, by any client. Asks the primary. */
  isLocked(): Promise<boolean>
  /** Whether this caller holds the lock; outside any scope, whether `unlock()` would release one. Asks the primary. */
  isHeldByCurrentThread(): Promise<boolean>
  /** Whether the caller with this `threadId` option holds the lock. Asks the primary. */
  isHeldByThread(threadId: number): Promise<boolean>
  /** How many levels this caller holds. Asks the primary. */
  getHoldCount(): Promise<number>
  /** The lease that is left, in ms; -1 without expiry, -2 when the lock is free. Asks the primary. */
  remainTimeToLive(): Promise<number>

  /**
   * `lock()` with the acquisition as an object. Not in Java. Throws as `lock()` does.
   * @example
   * ```ts
   * await using hold = await lock.acquire()
   * await charge(order, { signal: hold.signal })
   * ```
   */
  acquire(options?: LockOptions): Promise<LockHold>
  /**
   * `tryLock()` with the acquisition as an object; undefined when it was not acquired. Not in Java. Throws as
   * `tryLock()` does.
   * @example
   * ```ts
   * await using hold = await lock.tryAcquire({ waitTime: 500 })
   * if (hold) await ship(order)
   * ```
   */
  tryAcquire(options?: TryLockOptions): Promise<LockHold | undefined>
  /**
   * Runs `fn` under the lock and releases it when `fn` has settled. Not in Java.
   *
   * `fn` runs as a logical thread of its own, a child of the current one. Within it this lock and the locks of the
   * ancestors are re-entered, and a concurrent sibling waits. With a `threadId`, that caller acquires the lock, and `fn`
   * re-enters its hold. Rejects with the error of `fn`.
   * @throws {@link LockTimeoutError} when the lock was not acquired within `waitTime`.
   * @throws {@link LockLostError} when `fn` succeeded but the hold was lost; its `result` is the value of `fn`.
   * @example
   * ```ts
   * await lock.withLock(({ signal }) => charge(order, { signal }), { waitTime: 500 })
   * ```
   */
  withLock<T>(fn: (hold: LockHold) => T | Promise<T>, options?: WithLockOptions): Promise<T>
}
