import type { ReleaseOptions } from './call-options'

/**
 * One acquisition of a lock, as an object. Any code that has the object may release it, once, from any scope.
 * So no other `unlock()` releases it by mistake: this is the safest way to hold a lock object that several
 * requests share. It works with `await using`.
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
   * The owner of this hold as Redis has it: the hash field `<client id>:<thread id>`. A token lock has the
   * same text here, although Redis stores the token: the token is secret.
   */
  readonly owner: string
  /**
   * Aborts as soon as the client knows that the hold is lost: its lease ended, a client released it by force,
   * or the server lost the key. The reason is a LockLostError. When the client is shut down, the reason is a
   * RedissonShutdownError. Pass the signal to the code that works under the lock. Its listeners run in the
   * async context (AsyncLocalStorage) in which `signal` was first read, and outside any logical thread.
   */
  readonly signal: AbortSignal
  /**
   * Whether the lock is held, as far as the client knows without asking the server. Each read compares the
   * clocks.
   */
  readonly isHeld: boolean
  /**
   * Releases this acquisition. When the `signal` of the options aborts, the call rejects with its reason, and
   * the release goes on in the background.
   * @throws {@link IllegalMonitorStateError} when called a second time.
   * @throws {@link LockLostError} when the hold was lost.
   * @throws {@link RedisUnavailableError} when the server could not be reached for 10 s. The hold has ended
   * in this client even so, and the client retries the release in the background until the lease has surely
   * ended.
   */
  unlock(options?: ReleaseOptions): Promise<void>
  /** `unlock()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}
