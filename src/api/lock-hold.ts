import type { ReleaseOptions } from './arguments'

/**
 * One acquisition of a lock, as an object: any code that has it may release it, once, from any scope.
 *
 * The safest way to hold a lock that requests share: no other `unlock()` can release it by mistake.
 * Works with `await using`.
 *
 * @example
 * ```ts
 * const hold = await lock.acquire({ leaseTime: 60_000 })
 * try {
 *   await charge(order, { signal: hold.signal })
 * } finally {
 *   await hold.unlock()
 * }
 * ```
 */
export interface LockHold {
  /** The lock's name. */
  readonly lockName: string
  /** The thread id of this hold on the wire, as a Java peer sees it in the owner field. Never used again. */
  readonly threadId: number
  /**
   * The owner of this hold as Redis has it: the hash field `<client id>:<thread id>`. For a token lock the same, though
   * Redis has the token: that is shown nowhere.
   */
  readonly owner: string
  /**
   * Aborts, with a LockLostError as its reason, as soon as the hold is known to be lost: its lease ran out,
   * it was released by force, or the server lost it. With RedissonShutdownError when the client is shut down.
   * Hand it to whatever works under the lock. Its listeners run in the async context (AsyncLocalStorage) in which
   * `signal` was first read, and outside any logical thread.
   */
  readonly signal: AbortSignal
  /** Whether the lock is held, by all that can be known without asking the server. Compares clocks when read. */
  readonly isHeld: boolean
  /**
   * Releases this acquisition. With a `signal` it rejects with the signal's reason when that aborts; the release goes on
   * in the background.
   * @throws {@link IllegalMonitorStateError} when called a second time.
   * @throws {@link LockLostError} when the hold was lost.
   * @throws {@link RedisUnavailableError} when the server could not be reached for 10 s. The hold has ended here all the
   * same, and the release is retried in the background until the lease has surely ended.
   */
  unlock(options?: ReleaseOptions): Promise<void>
  /** `unlock()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}
