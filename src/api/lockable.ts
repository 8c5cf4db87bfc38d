import type { TryLockOptions } from './call-options'
import type { LockHold } from './lock-hold'

/**
 * The method that a member of a multi lock or a RedLock must have. Every lock of this package has it, also a
 * multi lock and a RedLock.
 */
export interface Lockable {
  /**
   * Resolves with a hold, or with undefined when other owners held the lock for `waitTime`. When `signal`
   * aborts, the call rejects, and nothing stays held.
   */
  tryAcquire(options?: TryLockOptions): Promise<LockHold | undefined>
}
