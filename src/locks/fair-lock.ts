import type { ReleaseReply } from '../engine/release-reply'
import type { RLock } from '../engine/rlock'
import type { ScriptCall } from '../scripts/script-call'
import { FairAttempt } from './fair-attempt'
import { FairKind } from './fair-kind'
import { FairPlaces } from './fair-places'

/**
 * Redisson's fair lock: an RLock whose waiters are served in the order in which they arrived at the server,
 * across all processes, those of Java included.
 *
 * Every waiter has its own place in a queue on the server. A place lasts for five seconds, and its client
 * refreshes it while the waiter waits. So a process that dies delays the waiters behind it by seconds.
 * Sleeping waiters send only this refresh: one call for each client and lock.
 *
 * `tryLock()` without a wait never enters the queue and never passes it: it acquires a lock only if the lock
 * is free and no caller waits for it. There is no local handoff, so each acquisition takes a message and a
 * round trip. If the order does not matter, `getLock` is several times as fast.
 *
 * **Different from Java.** When a waiter leaves, or a place at the head lapses, the next waiter is notified.
 * (In Java it sleeps on.) `unlock()` of a hold that was lost rejects with LockLostError. A caller whose
 * process stops, or is cut off from the server, for longer than five seconds loses its place, and queues
 * again at the end. The place of a dead Java waiter lasts for Redisson's `fairLockWaitTimeout`, five minutes
 * by default.
 *
 * It is the same lock as `getLock` of that name. Callers of `getLock` pass the queue, so use one kind for one
 * name.
 */
export interface RFairLock extends RLock {}

/** See the interface. */
export class FairLockKind extends FairKind {
  protected override readonly Attempt = FairAttempt

  /** If the server refuses the message, a refresh finds the next owner. */
  protected override free(...args: Parameters<FairKind['free']>): ScriptCall<ReleaseReply> {
    const call = super.free(...args)
    call.whenAnswered(({ value }) => {
      if (value.result === 'freed' && value.notified === undefined)
        FairPlaces.of(this.client, this)?.refreshWithin(0)
    })
    return call
  }
}

/**
 * Redisson's fair lock that is not re-entrant: a caller that holds it and acquires it again is rejected with
 * IllegalMonitorStateError.
 */
export class NonReentrantFairLockKind extends FairLockKind {
  override readonly kind = 'non-reentrant-fair'
  readonly reentrantBy = 'getFairLock()'
}
