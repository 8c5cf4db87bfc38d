import type { LockOptions, TryLockOptions, UnlockOptions, WithLockOptions } from './call-options'
import type { LockHold } from './lock-hold'
import type { TimeUnit } from './time-unit'

/** The calls that acquire and release, of every lock. `Hold` is what its acquisitions are as objects. */
export interface LockCalls<Hold extends LockHold = LockHold> {
  /**
   * Acquires the lock; waits for it without limit. The lock is held until `unlock()`: a watchdog renews the
   * lease of `lockWatchdogTimeout` (30 s by default) at every third of it.
   *
   * Each `lock()` needs its `unlock()`, also one with a lease. Outside `redisson.run()` and `withLock()`,
   * `unlock()` ends holds of this lock object that have expired before those that are live: a late caller
   * must not free the lock of the next one.
   * @throws {@link IllegalMonitorStateError} while this caller has another acquisition of this lock in
   * flight.
   * @throws {@link LockLostError} when it re-enters a hold that was lost and that `unlock()` has not settled
   * yet.
   * @throws {@link LockNotReplicatedError} with Sentinel or a cluster, when no replica acknowledged the
   * acquisition.
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
   * Tries once; resolves with whether the lock is held now. Resolves with false without a try while other
   * callers of this client queue for a lock that the server said is held.
   * A silent server does not mean that the lock is held.
   * @throws {@link RedisUnavailableError} when neither the try of this call nor the try in flight before it
   * in the queue is answered within a second after the wait. Also when the last answer was "held" and a later
   * try has had no answer for three seconds.
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
   * A logical thread releases a level of its own, or else a level of an ancestor. It never releases a level
   * of a sibling or a descendant that is still running. Code that runs after its thread has ended releases
   * only what that thread acquired.
   *
   * Outside any scope, `unlock()` settles a hold that was taken through this lock object, lost holds first.
   * So a caller that acquired nothing must not call it on an object that several callers share: use
   * `withLock` or `acquire`.
   *
   * @throws {@link IllegalMonitorStateError} when this caller holds nothing.
   * @throws {@link LockLostError} when the hold was lost.
   * @throws {@link RedisUnavailableError} when the server could not be reached. The hold has ended in this
   * client even so, and the client retries the release in the background until the lease has surely ended.
   */
  unlock(options?: UnlockOptions): Promise<void>

  /**
   * `lock()` with the acquisition as an object. Not in Java. Throws as `lock()` does.
   * @example
   * ```ts
   * await using hold = await lock.acquire()
   * await charge(order, { signal: hold.signal })
   * ```
   */
  acquire(options?: LockOptions): Promise<Hold>
  /**
   * `tryLock()` with the acquisition as an object; undefined when it was not acquired. Not in Java. Throws as
   * `tryLock()` does.
   * @example
   * ```ts
   * await using hold = await lock.tryAcquire({ waitTime: 500 })
   * if (hold) await ship(order)
   * ```
   */
  tryAcquire(options?: TryLockOptions): Promise<Hold | undefined>
  /**
   * Runs `fn` under the lock and releases it when `fn` has settled. Not in Java.
   *
   * `fn` runs as a logical thread of its own, a child of the current one. Within it this lock and the locks
   * of the ancestors are re-entered, and a concurrent sibling waits. Rejects with the error of `fn`, and with
   * TypeError for a `threadId`.
   * @throws {@link LockTimeoutError} when the lock was not acquired within `waitTime`.
   * @throws {@link LockLostError} when `fn` succeeded but the hold was lost; its `result` is the value of
   * `fn`.
   * @throws TypeError when `fn` gives an async iterator, a stream or an Observable, which works only after
   * the release. Its `result` is that value.
   * @example
   * ```ts
   * await lock.withLock(({ signal }) => charge(order, { signal }), { waitTime: 500 })
   * ```
   */
  withLock<T>(fn: (hold: Hold) => T | Promise<T>, options?: WithLockOptions): Promise<T>
}
