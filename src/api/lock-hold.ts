/**
 * One acquisition of a lock, as an object: whoever has it may release it, once, from any scope.
 *
 * The safest way to hold a lock that requests share: nobody else's `unlock()` can release it by mistake.
 * Works with `await using`.
 */
export interface LockHold {
  /** The lock's name. */
  readonly lockName: string
  /** The thread id of this hold on the wire, as a Java peer sees it in the owner field. Never used again. */
  readonly threadId: number
  /**
   * Aborts, with a LockLostError as its reason, as soon as the hold is known to be lost: its lease ran out,
   * it was released by force, or the server lost it. With RedissonShutdownError when the client is shut down.
   * Hand it to whatever works under the lock.
   */
  readonly signal: AbortSignal
  /** Whether the lock is held, by all that can be known without asking the server. Compares clocks when read. */
  readonly isHeld: boolean
  /**
   * Releases this acquisition.
   * Rejects with IllegalMonitorStateError when called a second time, with LockLostError when the hold was
   * lost, with RedisUnavailableError when the server could not be reached for 10 s (the hold has ended here
   * all the same, and the release is retried in the background until the lease has surely ended).
   */
  unlock(): Promise<void>
  /** `unlock()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}
