import { HandoffLockKind } from './lock'

/**
 * Redisson's non-reentrant lock: an RLock that its holder cannot acquire again. A logical thread, or a
 * `threadId`, that holds the lock and acquires it again is rejected with IllegalMonitorStateError, also by
 * `tryLock()`. So code that enters its own critical section a second time fails before it runs.
 *
 * It is the same lock as `getLock` of that name. The lock object that is called decides:
 * `getLock(name).lock()` re-enters a hold that a non-reentrant lock object acquired, as in Java.
 *
 * A caller without a scope is a new owner with each call. It waits, or gets false, as with every lock.
 */
export class NonReentrantLockKind extends HandoffLockKind {
  override readonly kind: string = 'non-reentrant'
  readonly reentrantBy = 'getLock()'
}
