import { IllegalMonitorStateError } from '../api/errors'
import type { Caller, Hold } from '../engine/hold'
import type { LockKind } from '../engine/lock-kind'
import { quote } from '../util/quote'
import { HandoffLockKind } from './lock'

/** `instead`: the getter of the lock that is re-entrant. */
export function reentryRefused({ name }: LockKind, hold: Hold, caller: Caller, instead: string) {
  return new IllegalMonitorStateError(
    `The lock ${quote(name)} is not re-entrant, and ${caller.description} holds it already ` +
      `(client ${hold.client.clientId}, thread id ${hold.threadId}). Release it first. ` +
      `Where code that holds a lock calls code that takes it again, use ${instead}.`,
  )
}

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

  refuseReentry(hold: Hold, caller: Caller): never {
    throw reentryRefused(this, hold, caller, 'getLock()')
  }
}
