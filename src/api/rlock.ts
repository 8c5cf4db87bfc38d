import type { LockOptions, TryLockOptions, UnlockOptions, WithLockOptions } from './arguments'
import type { LockHold } from './lock-hold'
import type { TimeUnit } from './time-unit'

/**
 * Redisson's RLock: a re-entrant lock on Redis, shared with Java services that use Redisson.
 *
 * **Who holds it.** Java's owner is the thread; here it is, in order: the `threadId` option; the logical
 * thread, that is everything inside `redisson.run(fn)` or `lock.withLock(fn)`; else it is unscoped, and then every
 * acquisition is an owner of its own. Two calls outside any scope exclude each other, also on one object.
 *
 * **Units.** Numbers are milliseconds unless a TimeUnit follows them, and are rounded up to whole ones.
 *
 * **Errors.** Every method rejects with {@link RedissonShutdownError} after `shutdown()`, with
 * {@link RedisUnavailableError} when it met nothing but connection errors, silence or a shortage (OOM, MISCONF,
 * NOREPLICAS) for 10 s (acquisitions earlier, when their wait is over), with {@link RedisRefusedError} when the server
 * refuses (a missing right, wrong credentials, an unknown command), with {@link WrongTypeError} when the key holds
 * something else, and with TypeError or RangeError for bad arguments, before anything is sent.
 */
export interface RLock {
  /** The name given to `getLock`, before any name mapper. */
  getName(): string

  /**
   * Acquires the lock, waiting for it without limit. Held until `unlock()`: a watchdog renews the lease of
   * `lockWatchdogTimeout` (30 s by default) at every third of it.
   * @throws {@link IllegalMonitorStateError} while this caller has another acquisition of this lock in flight.
   * @throws {@link LockLostError} when it re-enters a hold that was lost and has not been settled by `unlock()`.
   * @throws {@link LockNotReplicatedError} with Sentinel or a cluster, when no replica acknowledged it.
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
   * other negatives are RangeErrors (Java takes them for the watchdog).
   */
  lock(leaseTime: number, unit?: TimeUnit): Promise<void>
  /** The same with options; with a `signal` it is Java's `lockInterruptibly`. */
  lock(options: LockOptions): Promise<void>

  /**
   * Tries once; resolves with whether the lock is held now. Resolves with false without a try while other callers of
   * this client queue for a lock that the server said is held.
   * A silent server does not mean that the lock is held.
   * @throws {@link RedisUnavailableError} if neither this attempt nor the one before it in the queue is answered within
   * a second after the wait, and when the last answer was "held" but a later attempt has had no answer for three seconds.
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
   * In a logical thread that is a level of its own, else one of its ancestors', never one of a branch beside or
   * below it that lives. Code that a thread left behind releases what that thread acquired, and nothing else.
   *
   * Outside any scope it settles a hold taken through this object, lost ones first. On an object that
   * several callers share, a caller that acquired nothing must therefore not call it: use `withLock` or `acquire`.
   *
   * @throws {@link IllegalMonitorStateError} when this caller holds nothing.
   * @throws {@link LockLostError} when the hold was lost.
   * @throws {@link RedisUnavailableError} when the server could not be reached. The hold has ended here all the same,
   * and the release is retried in the background until the lease has surely ended.
   */
  unlock(options?: UnlockOptions): Promise<void>

  /**
   * Frees the lock, also for another holder; resolves with whether it was held. The holder learns of it as of a loss.
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
   * `fn` runs as a logical thread of its own, a child of the current one: within it this lock and those of
   * the ancestors are re-entered, and a concurrent sibling waits. With a `threadId` that caller acquires the lock,
   * and within `fn` its hold is re-entered.
   * Rejects with what `fn` rejects with.
   * @throws {@link LockTimeoutError} when the lock was not acquired within `waitTime`.
   * @throws {@link LockLostError} when `fn` succeeded but the hold was lost meanwhile; its `result` is the value.
   * @example
   * ```ts
   * await lock.withLock(({ signal }) => charge(order, { signal }), { waitTime: 500 })
   * ```
   */
  withLock<T>(fn: (hold: LockHold) => T | Promise<T>, options?: WithLockOptions): Promise<T>
}
