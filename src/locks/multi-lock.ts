import type { AcquireArguments } from '../api/arguments'
import { LockLostError } from '../api/errors'
import type { LockCalls } from '../api/lock-calls'
import type { Client } from '../client/client'
import { acquireAll } from '../multi/acquire-all'
import { type MemberGroup, membersOf } from '../multi/member'
import { describeStates, errorsOf } from '../multi/member-states'
import { type FullAnswer, MembersCall } from '../multi/members-call'
import type { MultiLockHold } from '../multi/members-handle'
import { MembersLock } from '../multi/members-lock'
import { isTransient } from '../multi/try-member'
import { quote } from '../util/quote'

/**
 * Redisson's RedissonMultiLock: several locks as one, all of them or none. Members may be of any kind that
 * has `tryAcquire`, of several clients, and multi locks or RedLocks themselves.
 *
 * **How it acquires.** First it tries all members at once. If another owner holds a member, or the client
 * should yield a member to other processes, it releases all members and waits for that one. Then it acquires
 * the others in one global order: by key, then by address. The order of the arguments does not matter. While
 * it holds some members, it waits a few tens of ms for the next one, and longer if the call has waited for
 * long. If it is aborted or fails, it releases the members that it has.
 *
 * **How it is held.** Each member has its own lease and watchdog. The hold is lost as soon as one member is
 * lost: `signal` aborts, and `isHeld` is false. With a lease it ends with the first member whose lease ends.
 *
 * **The owner.** As with RLock: the `threadId` option, the logical thread, or none. The members belong to the
 * same caller. Members are re-entered like every lock.
 *
 * **Different from Java.** `unlock()` releases all members and then reports (Java's stops at the first that
 * fails). Each member has its own lease, which is set once. (Java sets it again at the end, even if another
 * owner holds the key by then. With `lock(leaseTime, unit)` Java multiplies it in each round.) An error that
 * a retry cannot cure rejects at once (Java tries for ever). These methods are absent; in Java they throw:
 * `getName`, `forceUnlock`, `isLocked`, `getHoldCount`, `remainTimeToLive` and `newCondition`. Call them on
 * the members.
 *
 * **Errors.** Those of the member that failed, as RLock describes them. Losses are one LockLostError with
 * `members`.
 */
export interface RMultiLock extends LockCalls<MultiLockHold> {
  /**
   * Whether this caller holds it, also by `withLock` or `acquire`, as far as the client knows without asking
   * the servers.
   */
  isHeldByCurrentThread(): Promise<boolean>
  /** The same of the caller with this `threadId` option. */
  isHeldByThread(threadId: number): Promise<boolean>
}

/** See the interface. */
export class MultiLock extends MembersLock implements RMultiLock {
  constructor(client: Client, locks: readonly unknown[]) {
    const members = membersOf(
      locks.flatMap((lock): readonly unknown[] =>
        lock instanceof MultiLock ? lock.group.members.map((member) => member.lock) : [lock],
      ),
      'multi lock',
    )
    super(client, members, 'MultiLock', members.length, acquireMembers)
  }
}

function acquireMembers(group: MemberGroup, options: AcquireArguments & { readonly waitTime: number }) {
  const endsWithoutError = (answers: readonly FullAnswer[]) => errorsOf(answers).length === 0
  const failure = (answers: readonly FullAnswer[]) => {
    const errors = errorsOf(answers)
    return errors.find((each) => !isTransient(each)) ?? errors[0] ?? tooShort(group, answers)
  }
  return acquireAll(new MembersCall(group, { ...options, endsWithoutError, failure }))
}

function tooShort({ name, client }: MemberGroup, answers: readonly FullAnswer[]): LockLostError {
  const members = answers.map(({ state }) => state)
  const error = new LockLostError(
    `All members of ${quote(name)} were acquired several times in a row, and each time the lease of one ` +
      `was over before the last one answered (client ${client.clientId}; ${describeStates(members)}). Use ` +
      'a longer leaseTime.',
    name,
  )
  return Object.assign(error, { members })
}
