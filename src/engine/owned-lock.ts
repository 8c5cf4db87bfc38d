import {
  type AcquireArguments,
  acquireOptions,
  lockArguments,
  threadId,
  tryLockArguments,
  tryOptions,
  unlockOptions,
  withLockOptions,
} from '../api/arguments'
import type { LockOptions, TryLockOptions, UnlockOptions, WithLockOptions } from '../api/call-options'
import { LockLostError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { ADOPT } from '../client/member-identity'
import { placeInCode } from '../client/place-in-code'
import type { Leased } from '../leases/lease'
import type { OwnedHold } from '../ownership/caller'
import {
  type Caller,
  explicitCaller,
  type HoldTable,
  ThreadCaller,
  unscopedCaller,
} from '../ownership/caller'
import { ambientThread, type LogicalThread, newChildThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { unlessAborted } from '../util/abort'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { hasWarned } from '../util/warn-once'
import { timedOut } from '../waiting/wait-errors'
import {
  ACQUIRE_AS_ASKED,
  ACQUIRE_FOR,
  ASSERT_MAY_RELEASE,
  COUNT_OF,
  LEVELS_OF,
  NOT_HELD,
  RELEASE_BARE,
} from './lock-internals'
import { notHeldError } from './not-held'
import {
  SHARED_OBJECT,
  warnOfEndedThread,
  warnOfHoldThatStays,
  warnOfSharedObject,
} from './ownership-warnings'

/** One acquisition as an object. */
interface HandleOf<H> extends LockHold {
  readonly hold: H
  [ADOPT](thread: LogicalThread): void
}

const ACQUIRE_UNSCOPED = Symbol('acquireUnscoped')
const CALLER = Symbol('caller')
const RELEASE_FOR = Symbol('releaseFor')
const TIMED_OUT = Symbol('timedOut')

/** The calls of every lock that has owners; the interfaces document them. A subclass acquires and releases. */
export abstract class OwnedLock<H extends OwnedHold, Handle extends HandleOf<H>> {
  private readonly unscoped = new UnscopedHolds<H>()

  constructor(
    protected readonly context: Context,
    private readonly subject: Pick<Leased, 'objectId' | 'name' | 'key'>,
  ) {}

  /** With `byToken` only the handle releases it, otherwise `unlock()` of the caller. Undefined: the wait was over. */
  protected abstract [ACQUIRE_FOR](
    caller: Caller<H>,
    options: AcquireArguments,
    byToken: boolean,
  ): Promise<Handle | undefined>
  /** Releases the newest level that an `unlock()` of this caller may release. */
  protected abstract [RELEASE_BARE](hold: H, caller: Caller<H>): Promise<void>
  /** How many levels a live hold has. */
  protected abstract [LEVELS_OF](hold: H): Promise<number>

  async lock(first?: number | LockOptions, unit?: TimeUnit): Promise<void> {
    assertHasLock(this)
    await this[ACQUIRE_AS_ASKED](lockArguments(first, unit), false)
  }

  async tryLock(
    first?: number | TryLockOptions,
    second?: number | TimeUnit,
    third?: TimeUnit,
  ): Promise<boolean> {
    assertHasLock(this)
    return (await this[ACQUIRE_AS_ASKED](tryLockArguments(first, second, third), false)) !== undefined
  }

  async acquire(options?: LockOptions): Promise<Handle> {
    assertHasLock(this)
    return (await this[ACQUIRE_AS_ASKED](acquireOptions(options), true))!
  }

  async tryAcquire(options?: TryLockOptions): Promise<Handle | undefined> {
    assertHasLock(this)
    return await this[ACQUIRE_AS_ASKED](tryOptions(options), true)
  }

  async withLock<T>(fn: (hold: Handle) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    assertHasLock(this)
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    const isExplicit = given.threadId !== undefined
    const caller = isExplicit ? this[CALLER](given.threadId) : new ThreadCaller<H>(this.context, thread)
    let hold: Handle | undefined
    try {
      hold = await this[ACQUIRE_AS_ASKED](given, true, caller)
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw this[TIMED_OUT](given.waitTime)
    if (isExplicit) hold[ADOPT](thread)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    assertHasLock(this)
    const { threadId: explicit, signal } = unlockOptions(options)
    this[ASSERT_MAY_RELEASE]()
    const released = this[RELEASE_FOR](explicit)
    await (signal ? unlessAborted(released, signal) : released)
  }

  /** Throws if nothing could be released, because the client is shut down. */
  protected [ASSERT_MAY_RELEASE](): void {
    this.context.assertNotClosed()
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return (await this[COUNT_OF](undefined)) > 0
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return (await this[COUNT_OF](explicit)) > 0
  }

  /** How many levels this caller has; those of another thread that is inside its hold count. */
  protected async [COUNT_OF](explicit: number | undefined): Promise<number> {
    this.context.assertNotClosed()
    const caller = this[CALLER](explicit)
    const hold =
      caller === unscopedCaller ? this.unscoped.peek(ambientThread()) : caller.holdOf(this.subject.objectId)
    return hold?.checkLive() ? await this[LEVELS_OF](hold) : 0
  }

  /** A call that gives no waitTime has the one of the client, and rejects after it. */
  protected async [ACQUIRE_AS_ASKED](options: AcquireArguments, byToken: boolean, given?: Caller<H>) {
    const caller = given ?? this[CALLER](options.threadId)
    const { waitTime } = this.context
    const isLimited = options.waitTime === undefined && waitTime !== undefined
    const limited = isLimited ? { ...options, waitTime } : options
    const handle =
      byToken || caller !== unscopedCaller
        ? await this[ACQUIRE_FOR](caller, limited, byToken)
        : await this[ACQUIRE_UNSCOPED](limited)
    if (!handle && isLimited) throw this[TIMED_OUT](waitTime)
    return handle
  }

  /** For `lock()` and `tryLock()` of code without a scope: this lock object keeps the hold for `unlock()`. */
  private async [ACQUIRE_UNSCOPED](options: AcquireArguments): Promise<Handle | undefined> {
    const { context, subject, unscoped } = this
    unscoped.acquiring++
    let acquired: Handle | undefined
    try {
      acquired = await this[ACQUIRE_FOR](unscopedCaller, options, false)
    } finally {
      unscoped.acquiring--
      // Also where it rejects: `unlock()` in `finally` follows a `lock()` that was aborted, too.
      if (!acquired && unscoped.liveOf() && !hasWarned(context, SHARED_OBJECT)) unscoped.failed(placeInCode())
    }
    if (!acquired) return undefined
    const { hold } = acquired
    hold.thread = ambientThread()
    if (hold.thread) warnOfEndedThread(context, subject.name)
    unscoped.add(hold)
    return acquired
  }

  protected [NOT_HELD](caller: Caller<H>): Error {
    const isAcquiring = caller === unscopedCaller && this.unscoped.acquiring > 0
    return notHeldError(this.context, this.subject, caller.description, isAcquiring)
  }

  private [CALLER](explicit: number | undefined): Caller<H> {
    if (explicit !== undefined) return explicitCaller(this.context.explicitHolds as HoldTable<H>, explicit)
    const thread = ambientThread()
    return thread?.isAlive ? new ThreadCaller<H>(this.context, thread) : unscopedCaller
  }

  private async [RELEASE_FOR](explicit: number | undefined): Promise<void> {
    const { context } = this
    const { objectId, name } = this.subject
    const thread = explicit === undefined ? ambientThread() : undefined
    const caller = thread ? new ThreadCaller<H>(context, thread) : this[CALLER](explicit)
    // Without an acquisition in flight the release starts at once, so that calls take effect in their order.
    const settled = caller.settled(objectId)
    if (settled) await settled
    const hold = caller.holdToRelease(objectId)
    if (hold) return await this[RELEASE_BARE](hold, caller)
    // Code of an ended thread acquires without a scope. It must not release a hold of another caller.
    if (caller !== unscopedCaller && thread?.isAlive !== false) throw this[NOT_HELD](caller)
    const taken = this.unscoped.take(thread)
    if (taken === undefined) throw this[NOT_HELD](caller)
    // This `unlock()` may end another hold than its caller means.
    const isLive = taken !== 'forgotten' && taken.checkLive()
    const failedAt = isLive && this.unscoped.failures.get(taken)
    const stays = isLive ? undefined : this.unscoped.liveOf(thread)
    if (failedAt) warnOfSharedObject(context, name, taken.holder, failedAt, placeInCode())
    if (stays) warnOfHoldThatStays(context, name, stays.holder)
    if (taken === 'forgotten')
      throw new LockLostError(
        `A hold of the lock ${quote(name)} that this lock object took was lost long ago ` +
          `(client ${context.clientId}). Acquire the lock again where needed.`,
        name,
      )
    await this[RELEASE_BARE](taken, unscopedCaller)
  }

  private [TIMED_OUT](waitTime = 0) {
    return timedOut('lock', this.subject.name, waitTime, this.context.clientId)
  }
}

function assertHasLock(lock: unknown) {
  if (lock === undefined)
    throw new TypeError('the method was taken out of its lock: write lock.lock(), and not const { lock } = …')
}
