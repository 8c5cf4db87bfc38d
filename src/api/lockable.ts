import type { TryLockOptions } from './arguments'
import type { LockHold } from './lock-hold'

/**
 * What a member of a multi lock or a RedLock must have. All locks of this package have it, multi locks and RedLocks
 * included.
 */
export interface Lockable {
  /**
   * Resolves with a hold, or with undefined when others held the lock for as long as `waitTime`. When `signal` aborts
   * it rejects, and nothing stays held.
   */
  tryAcquire(options?: TryLockOptions): Promise<LockHold | undefined>
}
