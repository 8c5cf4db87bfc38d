import {
  type AcquireArguments,
  acquireOptions,
  type LockOptions,
  lockArguments,
  type TryLockOptions,
  threadId,
  tryLockArguments,
  tryOptions,
  type UnlockOptions,
  unlockOptions,
  type WithLockOptions,
  withLockOptions,
} from '../api/arguments'
import { LockLostError, LockTimeoutError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { ADOPT } from '../client/member-identity'
import type { Leased } from '../leases/lease'
import { type Caller, ThreadCaller, unscopedCaller } from '../ownership/caller'
import type { OwnedHold } from '../ownership/hold-table'
import { ambientThread, type LogicalThread, newChildThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { unlessAborted } from '../util/abort'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { notHeldError } from './not-held'

/** What one caller holds of a lock, as its calls see it. */
interface CallerHold extends OwnedHold {
  thread: LogicalThread | undefined
}

/** One acquisition as an object. */
interface HandleOf<H> extends LockHold {
  readonly hold: H
  [ADOPT](thread: LogicalThread): void
}

/** The calls of every lock that has owners; the interfaces document them. A subclass acquires and releases. */
export abstract class OwnedLock<H extends CallerHold, Handle extends HandleOf<H>> {
  private readonly unscoped = new UnscopedHolds<H>()
  private readonly live = (hold: H) => this.isLive(hold)

  constructor(
    protected readonly context: Context,
    private readonly subject: Pick<Leased, 'lockId' | 'name' | 'key'>,
  ) {}

  /** With `byToken` only the handle releases it, otherwise `unlock()` of the caller. Undefined: the wait was over. */
  protected abstract acquireFor(
    caller: Caller<H>,
    options: AcquireArguments,
    byToken: boolean,
  ): Promise<Handle | undefined>
  /** Releases the newest level that an `unlock()` of this caller may release. */
  protected abstract releaseBare(hold: H, caller: Caller<H>): Promise<void>
  protected abstract isLive(hold: H): boolean
  /** How many levels a live hold has. */
  protected abstract levelsOf(hold: H): Promise<number>

  async lock(first?: number | LockOptions, unit?: TimeUnit): Promise<void> {
    await this.acquireBare(lockArguments(first, unit))
  }

  async tryLock(
    first?: number | TryLockOptions,
    second?: number | TimeUnit,
    third?: TimeUnit,
  ): Promise<boolean> {
    return (await this.acquireBare(tryLockArguments(first, second, third))) !== undefined
  }

  acquire(options?: LockOptions): Promise<Handle> {
    return this.acquireByToken(acquireOptions, options) as Promise<Handle>
  }

  tryAcquire(options?: TryLockOptions): Promise<Handle | undefined> {
    return this.acquireByToken(tryOptions, options)
  }

  async withLock<T>(fn: (hold: Handle) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    const isExplicit = given.threadId !== undefined
    const caller = isExplicit ? this.caller(given.threadId) : new ThreadCaller<H>(this.context, thread)
    let hold: Handle | undefined
    try {
      hold = await this.acquireFor(caller, given, true)
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw this.timedOut(given.waitTime)
    if (isExplicit) hold[ADOPT](thread)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    const { threadId: explicit, signal } = unlockOptions(options)
    this.assertMayRelease()
    await unlessAborted(this.releaseFor(explicit), signal)
  }

  /** Throws if nothing could be released, because the client is shut down. */
  protected assertMayRelease(): void {
    this.context.assertNotClosed()
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return (await this.countOf(undefined)) > 0
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return (await this.countOf(explicit)) > 0
  }

  /** How many levels this caller has; those of another thread that is inside its hold count. */
  protected async countOf(explicit: number | undefined): Promise<number> {
    this.context.assertNotClosed()
    const caller = this.caller(explicit)
    const hold =
      caller === unscopedCaller
        ? this.unscoped.peek(this.live, ambientThread())
        : caller.holdOf(this.subject.lockId)
    return hold && this.isLive(hold) ? await this.levelsOf(hold) : 0
  }

  /** For `lock()` and `tryLock()`: the hold belongs to the caller, and not to a LockHold. */
  protected async acquireBare(options: AcquireArguments): Promise<Handle | undefined> {
    const caller = this.caller(options.threadId)
    const acquired = await this.acquireFor(caller, options, false)
    if (acquired && caller === unscopedCaller) {
      const { hold } = acquired
      hold.thread = ambientThread()
      if (hold.thread) this.context.endedThreads.lockTaken(quote(this.subject.name))
      this.unscoped.add(hold)
    }
    return acquired
  }

  protected notHeld(caller: Caller<H>): Error {
    return notHeldError(this.context, this.subject, caller.description)
  }

  private acquireByToken<T>(
    read: (options: T | undefined) => AcquireArguments,
    options: T | undefined,
  ): Promise<Handle | undefined> {
    try {
      const known = read(options)
      return this.acquireFor(this.caller(known.threadId), known, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  private caller(explicit: number | undefined): Caller<H> {
    if (explicit !== undefined) return this.context.explicitCallers.caller(explicit)
    const thread = ambientThread()
    return thread?.isAlive ? new ThreadCaller<H>(this.context, thread) : unscopedCaller
  }

  private async releaseFor(explicit: number | undefined): Promise<void> {
    const { lockId, name } = this.subject
    const thread = explicit === undefined ? ambientThread() : undefined
    const caller = thread ? new ThreadCaller<H>(this.context, thread) : this.caller(explicit)
    // Without an acquisition in flight the release starts at once, so that calls take effect in their order.
    const place = caller.entryToAcquire(lockId)
    const acquiring = place?.table.get(place.key)?.acquiring?.waitForUnlock()
    if (acquiring) await acquiring
    const hold = caller.holdOf(lockId) ?? caller.expiredHoldOf(lockId)
    if (hold) return await this.releaseBare(hold, caller)
    // Code of an ended thread acquires without a scope. It must not release a hold of another caller.
    if (caller !== unscopedCaller && thread?.isAlive !== false) throw this.notHeld(caller)
    const taken = this.unscoped.take(this.live, thread)
    if (taken === undefined) throw this.notHeld(caller)
    if (taken === 'forgotten')
      throw new LockLostError(
        `A hold of the lock ${quote(name)} that this lock object took was lost long ago ` +
          `(client ${this.context.clientId}). Acquire the lock again where needed.`,
        name,
      )
    await this.releaseBare(taken, unscopedCaller)
  }

  private timedOut(waitTime = 0) {
    const { name } = this.subject
    return new LockTimeoutError(
      `The lock ${quote(name)} was not acquired within its waitTime of ${waitTime} ms (client ${this.context.clientId}): ` +
        'another owner held it. Nothing was run. Wait longer, or use tryAcquire() where this is an ordinary result.',
      name,
    )
  }
}
