import { IllegalMonitorStateError } from '../api/errors'
import type { Caller, Hold } from '../engine/hold'
import { quote } from '../util/quote'
import { HandoffLockScripts } from './lock'

/** For a caller that acquires again a lock which it holds and which is not re-entrant. */
export function reentryRefused(name: string, hold: Hold, caller: Caller, reentrant = 'getLock()'): Error {
  return new IllegalMonitorStateError(
    `The lock ${quote(name)} is not re-entrant, and ${caller.description} holds it already ` +
      `(client ${hold.context.clientId}, thread id ${hold.threadId}). Release it first. ` +
      `Where code that holds a lock calls code that takes it again, use ${reentrant}.`,
  )
}

/**
 * Redisson's non-reentrant lock: an RLock that its holder cannot acquire again. A logical thread, or a `threadId`, that
 * holds the lock and acquires it again is rejected with IllegalMonitorStateError, also by `tryLock()`. So code that enters
 * its own critical section a second time fails before it runs.
 *
 * It is the same lock as `getLock` of that name. The lock object that is called decides: `getLock(name).lock()` re-enters a
 * hold that a non-reentrant lock object acquired, as in Java.
 *
 * A caller without a scope is a new owner with each call. It waits, or gets false, as with every lock.
 */
export class NonReentrantLockScripts extends HandoffLockScripts {
  override readonly kind: string = 'non-reentrant'
  refuseReentry(hold: Hold, caller: Caller): Error {
    return reentryRefused(this.name, hold, caller)
  }
}
