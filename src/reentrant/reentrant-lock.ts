import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
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
import { LockLostError, LockTimeoutError, WrongTypeError } from '../api/errors'
import type { RLock } from '../api/rlock'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import { ThreadCaller, unscopedCaller } from '../ownership/caller'
import { ambientThread, newChildThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { unlessAborted } from '../util/abort'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { acquire } from './acquire'
import { AcquireRequest, type HandleClass } from './acquire-request'
import { AcquiredLockHold } from './acquired-lock-hold'
import type { Caller, Hold } from './hold'
import type { AnyLockScripts, LockState } from './lock-scripts'
import { notHeldError } from './not-held'
import { bareLevel, release } from './release'

/** What the client reads in place of bytes that are no UTF-8. */
const NO_TEXT = '\uFFFD'

/** The methods of RLock over any kind of lock; the interface documents them. `Handle` is its class of LockHolds. */
export class ReentrantLock<Handle extends AcquiredLockHold = AcquiredLockHold> implements RLock {
  private readonly unscoped = new UnscopedHolds<Hold>()
  private readonly isLive = (hold: Hold) => hold.checkLive()

  constructor(
    protected readonly context: Context,
    protected readonly scripts: AnyLockScripts,
    private readonly Handle = AcquiredLockHold as HandleClass<Handle>,
  ) {}

  getName(): string {
    return this.scripts.name
  }

  /** The identity of this lock for a multi lock of which it is a member. */
  get [MEMBER](): MemberIdentity {
    const { context, scripts } = this
    const { name, key, lockId } = scripts
    const mustYield = () => context.queues.mustYield(scripts)
    return { name, key, lockId, client: context, server: context.server, mustYield }
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `RLock(${quote(this.getName())})`
  }

  toJSON(): object {
    return { name: this.getName() }
  }

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
    const own = new ThreadCaller<Hold>(this.context, thread)
    const caller = given.threadId === undefined ? own : this.caller(given.threadId)
    let hold: Handle | undefined
    try {
      hold = await this.acquireFor(caller, given, true)
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw this.timedOut(given.waitTime)
    if (caller !== own) own.adopt(hold.hold)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    const { threadId: explicit, signal } = unlockOptions(options)
    this.context.assertNotClosed()
    await unlessAborted(this.releaseFor(explicit), signal)
  }

  private async releaseFor(explicit: number | undefined): Promise<void> {
    const thread = explicit === undefined ? ambientThread() : undefined
    const caller = thread ? new ThreadCaller<Hold>(this.context, thread) : this.caller(explicit)
    // Without an acquisition in flight the release starts at once, so that calls take effect in their order.
    const acquiring = this.acquisitionUnderWay(caller)
    if (acquiring) await acquiring
    const hold = this.scopedHold(caller)
    if (hold) return await this.releaseBare(hold, caller)
    // Code of an ended thread acquires without a scope. It must not release a hold of another caller.
    if (caller !== unscopedCaller && thread?.isAlive !== false) throw this.notHeld(caller)
    const taken = this.unscoped.take(this.isLive, thread)
    if (taken === undefined) throw this.notHeld(caller)
    if (taken === 'forgotten')
      throw new LockLostError(
        `A hold of the lock ${quote(this.getName())} that this lock object took was lost long ago ` +
          `(client ${this.context.clientId}). Acquire the lock again where needed.`,
        this.getName(),
      )
    await this.releaseBare(taken, unscopedCaller)
  }

  async forceUnlock(): Promise<boolean> {
    this.context.assertOpen()
    for (;;) {
      const { holders } = await this.inspect('')
      if (holders.length === 0) return false
      const before = [...this.context.leases.live.on(this.scripts.key)].filter(({ lockId }) =>
        this.scripts.lockIds.includes(lockId),
      )
      const { value, connectionBroke } = await this.scripts.forceRelease(holders).answer
      // Another owner has acquired it since: the next round releases that hold as well.
      if (value.result === 'not-held' && !connectionBroke) {
        if (holders.some((holder) => holder.includes(NO_TEXT))) throw this.holderUnreadable()
        continue
      }
      const forced = before.filter(({ ownerField }) => holders.includes(this.fieldSeen(ownerField)))
      // A forced release of a writer also ends its reads, and no other owner reads beside it. "Not held" after a broken
      // connection means the same, unless the writer has released the write side and only reads since.
      const all =
        !this.scripts.shared && (value.result !== 'not-held' || forced.some(({ state }) => state === 'held'))
      for (const hold of all ? before : forced) hold.lose('forced')
      this.context.queues.freed(this.scripts, value.result === 'freed' ? value.notified : 0)
      this.context.unpublishedReleases.released(this.scripts, value)
      return true
    }
  }

  async isLocked(): Promise<boolean> {
    this.context.assertNotClosed()
    return (await this.inspect('')).holders.length > 0
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return (await this.getHoldCount()) > 0
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return (await this.countOf(this.context.explicitCallers.caller(explicit))) > 0
  }

  async getHoldCount(): Promise<number> {
    return await this.countOf(this.caller(undefined))
  }

  async remainTimeToLive(): Promise<number> {
    this.context.assertNotClosed()
    return (await this.inspect('')).timeToLive
  }

  protected acquireFor(
    caller: Caller,
    options: AcquireArguments,
    byToken: boolean,
  ): Promise<Handle | undefined> {
    return acquire(new AcquireRequest(this.context, this.scripts, this.Handle, caller, options, byToken))
  }

  /** For `lock()` and `tryLock()`: the hold belongs to the caller, and not to a LockHold. */
  protected async acquireBare(options: AcquireArguments): Promise<Handle | undefined> {
    const caller = this.caller(options.threadId)
    const acquired = await this.acquireFor(caller, options, false)
    if (acquired && caller === unscopedCaller) {
      const { hold } = acquired
      hold.thread = ambientThread()
      if (hold.thread) this.context.endedThreads.lockTaken(quote(this.getName()))
      this.unscoped.add(hold)
    }
    return acquired
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

  /** An owner field as the server answers it. */
  private fieldSeen(ownerField: string): string {
    return this.scripts.ownerIsSecret ? createHash('sha1').update(ownerField).digest('hex') : ownerField
  }

  private caller(explicit: number | undefined): Caller {
    if (explicit !== undefined) return this.context.explicitCallers.caller(explicit)
    const thread = ambientThread()
    return thread?.isAlive ? new ThreadCaller<Hold>(this.context, thread) : unscopedCaller
  }

  private acquisitionUnderWay(caller: Caller): Promise<unknown> | undefined {
    const place = caller.entryToAcquire(this.scripts.lockId)
    return place?.table.get(place.key)?.acquiring?.waitForUnlock()
  }

  /** The hold that an `unlock()` of this caller concerns, also an expired one. */
  private scopedHold(caller: Caller): Hold | undefined {
    const { lockId } = this.scripts
    return caller.holdOf(lockId) ?? caller.expiredHoldOf(lockId)
  }

  private async releaseBare(hold: Hold, caller: Caller): Promise<void> {
    await release(this.scripts, hold, () => {
      const level = bareLevel(hold, caller.thread)
      if (!level) throw this.notHeld(caller)
      return level
    })
  }

  private async inspect(owner: string): Promise<LockState> {
    return (await this.scripts.inspect(owner).answer).value
  }

  private async countOf(caller: Caller): Promise<number> {
    this.context.assertNotClosed()
    const hold =
      caller === unscopedCaller
        ? this.unscoped.peek(this.isLive, ambientThread())
        : caller.holdOf(this.scripts.lockId)
    if (!hold?.checkLive()) return 0
    const { count } = await this.inspect(hold.ownerField)
    if (count === 0 && hold.state === 'held') hold.lose('gone')
    return count
  }

  private holderUnreadable() {
    return new WrongTypeError(
      `The key ${quote(this.scripts.key)} has a field that is no text, so it is no lock (client ${this.context.clientId}). ` +
        'Use another name. If nothing needs the key, delete it.',
    )
  }

  private notHeld(caller: Caller) {
    return notHeldError(this.context, this.scripts, caller.description)
  }

  private timedOut(waitTime = 0) {
    const { clientId } = this.context
    const name = this.getName()
    return new LockTimeoutError(
      `The lock ${quote(name)} was not acquired within its waitTime of ${waitTime} ms (client ${clientId}): another ` +
        'owner held it. Nothing was run. Wait longer, or use tryAcquire() where this is an ordinary result.',
      name,
    )
  }
}
