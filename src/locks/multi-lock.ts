import type {
  AcquireArguments,
  LockOptions,
  TryLockOptions,
  UnlockOptions,
  WithLockOptions,
} from '../api/arguments'
import type { Lockable } from '../api/lockable'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { collectAll } from '../multi/collect-all'
import { membersOf } from '../multi/member'
import { type MultiLockHold, UnionHold } from '../multi/union-hold'
import { UnionLock } from '../multi/union-lock'

/**
 * Redisson's RedissonMultiLock: several locks as one, all of them or none. Members may be of any kind that has
 * `tryAcquire`, of several clients, and multi locks or RedLocks themselves.
 *
 * **How it acquires.** First it asks all members at once. Where one is held, or other processes are to have one first, it
 * holds nothing and waits for that one; then it takes the others in one global order, by name, whatever order was given.
 * While it holds some, it waits for a few tens of ms for the next one. Aborted or failed half-way, it releases what it has.
 *
 * **How it is held.** Each member has its own lease and watchdog. The hold is lost as soon as one member is lost; its
 * `signal` and `isHeld` say so. With a lease it ends with the first member whose lease ends.
 *
 * **Who holds it.** As with RLock: the `threadId` option, the logical thread, or none; the members belong to the same
 * caller. Members are re-entered like every lock.
 *
 * **Different from Java.** `unlock()` releases all members and then reports (Java's stops at the first that fails). A
 * lease is each member's own and is set once (Java's sets it again at the end, also where another owner holds the key
 * by then, and with `lock(leaseTime, unit)` multiplies it in each round). Errors that will not pass reject at once
 * (Java tries for ever). Absent, as in Java, where they throw: `getName`, `forceUnlock`, `isLocked`, `getHoldCount`,
 * `remainTimeToLive` and `newCondition`. Ask the members.
 *
 * **Errors.** Those of the member that failed, as RLock describes them. Losses are one LockLostError with `members`.
 */
export interface RMultiLock extends Lockable {
  /** Acquires all members, waiting without limit. Held until `unlock()`. */
  lock(): Promise<void>
  /** The same with a lease for each member, in ms unless a unit follows. -1 means no lease. */
  lock(leaseTime: number, unit?: TimeUnit): Promise<void>
  /** The same with options. */
  lock(options: LockOptions): Promise<void>

  /** Tries once, one member after the other in the global order; resolves with whether all are held now. */
  tryLock(): Promise<boolean>
  /** Waits for at most `waitTime` in all. */
  tryLock(waitTime: number, unit?: TimeUnit): Promise<boolean>
  /** Waits for at most `waitTime` in all, and holds for at most `leaseTime`. One unit for both. */
  tryLock(waitTime: number, leaseTime: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. */
  tryLock(options: TryLockOptions): Promise<boolean>

  /**
   * Releases what `lock()` or `tryLock()` acquired for this caller: all members at once, and then it reports. Rejects
   * with what a member rejects with where one could not be released.
   * @throws {@link LockLostError}, whose `members` say which, where some were lost.
   * @throws {@link IllegalMonitorStateError} where this caller holds nothing.
   */
  unlock(options?: UnlockOptions): Promise<void>

  /** Whether `unlock()` would release a hold that is not lost, by all that is known without asking the servers. */
  isHeldByCurrentThread(): Promise<boolean>
  /** The same of the caller with this `threadId` option. */
  isHeldByThread(threadId: number): Promise<boolean>

  /** `lock()` with the acquisition as an object. Not in Java. */
  acquire(options?: LockOptions): Promise<MultiLockHold>
  /** `tryLock()` with the acquisition as an object; undefined when it was not acquired. Not in Java. */
  tryAcquire(options?: TryLockOptions): Promise<MultiLockHold | undefined>
  /** Runs `fn` under the lock, as RLock's does; within it the members are re-entered. Not in Java. */
  withLock<T>(fn: (hold: MultiLockHold) => T | Promise<T>, options?: WithLockOptions): Promise<T>
}

/** See the interface. */
export class MultiLock extends UnionLock implements RMultiLock {
  constructor(context: Context, locks: readonly unknown[]) {
    const members = membersOf(
      locks.flatMap((lock): readonly unknown[] => (lock instanceof MultiLock ? lock.locks : [lock])),
      'multi lock',
    )
    super(context, members, 'MultiLock', members.length)
  }

  private get locks(): readonly Lockable[] {
    return this.members.map(({ lock }) => lock)
  }

  protected async collect(options: AcquireArguments): Promise<UnionHold | undefined> {
    const parts = await collectAll(this.union, this.members, options)
    return parts && new UnionHold(this.union, parts)
  }
}
