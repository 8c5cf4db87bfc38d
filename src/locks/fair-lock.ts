import { IllegalMonitorStateError } from '../api/errors'
import type { RLock } from '../api/rlock'
import type { Context } from '../client/context'
import type { Caller } from '../ownership/caller'
import type { AcquireAttempt } from '../reentrant/acquire-attempt'
import type { Hold } from '../reentrant/hold'
import type { AttemptOptions, LockScripts, ReleaseReply } from '../reentrant/lock-scripts'
import { ReentrantLock } from '../reentrant/reentrant-lock'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { FairAttempt } from './fair-attempt'
import { FairPlaces } from './fair-places'
import { ALLOWANCE, FairScripts } from './fair-scripts'

/**
 * Redisson's fair lock: an RLock whose waiters are served in the order in which they arrived at the server, across all
 * processes, those of Java included.
 *
 * Every waiter has a place of its own in a queue on the server. The place lasts for five seconds, and its client
 * refreshes it for as long as the waiter lives: a process that dies costs those behind it seconds. Waiters that sleep
 * send nothing but that refresh, one call a client and lock.
 *
 * `tryLock()` without a wait never queues and never passes the queue: it acquires a lock that is free and that no
 * caller waits for. There is no local handoff, so each acquisition takes a message and a round trip: where the order does not
 * matter, `getLock` is several times as fast.
 *
 * **Different from Java.** A waiter that leaves, and one that lapsed at the head, are no reason for the others to
 * sleep: the next one is notified. `unlock()` of a hold that was lost rejects with LockLostError. A caller whose
 * process stops for longer than five seconds (or is cut off from the server) loses its place, and queues again at the
 * end. A Java waiter that died keeps its place for Redisson's `fairLockWaitTimeout`, five minutes by default.
 *
 * It is the same lock as `getLock` of that name, whose callers pass the queue: use one kind for one name.
 */
export interface RFairLock extends RLock {}

class FairLockScripts extends FairScripts implements LockScripts {
  newAttempt(options: AttemptOptions): AcquireAttempt<undefined> {
    return new FairAttempt(this.context, this, options)
  }

  override release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply> {
    return this.freeing(super.release(owner, count, lease, leaseEnd))
  }

  override forceRelease(owners: readonly string[]): ScriptCall<ReleaseReply> {
    return this.freeing(super.forceRelease(owners))
  }

  /** Where the server refuses the message, a refresh finds out who is next. */
  private freeing(call: ScriptCall<ReleaseReply>): ScriptCall<ReleaseReply> {
    const answered = ({ value }: { value: ReleaseReply }) => {
      if (value.result === 'freed' && value.notified === undefined)
        FairPlaces.existing(this.context, this.key)?.refreshWithin(0)
    }
    call.whenAnswered(answered, () => {})
    return call
  }
}

class NonReentrantFairLockScripts extends FairLockScripts {
  override readonly kind = 'non-reentrant-fair'

  refuseReentry({ threadId }: Hold, { description }: Caller): Error {
    return new IllegalMonitorStateError(
      `${description} holds the lock ${quote(this.name)} already (client ${this.context.clientId}, thread id ` +
        `${threadId}), and it is not re-entrant. Release it first, or use getFairLock().`,
    )
  }
}

/** See the interface. */
export class FairLock extends ReentrantLock implements RFairLock {
  /** `allowance`: how long a place outlives its last refresh, in ms. */
  constructor(context: Context, name: string, key: string, allowance = ALLOWANCE) {
    super(context, new FairLockScripts(name, key, context, allowance))
  }
}

/**
 * Redisson's fair lock that does not re-enter: as the fair lock, but a caller that holds it and asks for it again is
 * refused with IllegalMonitorStateError.
 */
export class NonReentrantFairLock extends ReentrantLock implements RFairLock {
  constructor(context: Context, name: string, key: string) {
    super(context, new NonReentrantFairLockScripts(name, key, context, ALLOWANCE))
  }
}
