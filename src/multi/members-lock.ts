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
import { IllegalMonitorStateError, LockLostError, LockTimeoutError } from '../api/errors'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { ADOPT, MEMBER, type MemberIdentity } from '../client/member-identity'
import { type Caller, ThreadCaller, unscopedCaller } from '../ownership/caller'
import type { HoldRef } from '../ownership/hold-table'
import { ambientThread, newChildThread } from '../ownership/logical-thread'
import { processState } from '../ownership/process-state'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { inGlobalOrder, keyOf, type Member, type MemberGroup } from './member'
import { cut } from './member-states'
import type { MembersHold } from './members-hold'

/** What `lock()` and `tryLock()` acquired for one caller: a level each. */
interface Levels {
  readonly lockId: string
  readonly place: HoldRef<Levels>
  readonly levels: MembersHold[]
}

const isLive = (hold: MembersHold) => hold.isHeld

/** The methods that a multi lock and a RedLock share; the interfaces document them. */
export abstract class MembersLock {
  protected readonly group: MemberGroup
  private readonly lockId: string
  private readonly unscoped = new UnscopedHolds<MembersHold>()

  constructor(
    protected readonly context: Context,
    given: readonly Member[],
    kind: string,
    needed: number,
  ) {
    const name = `${kind}(${given.map((member) => cut(member.name)).join(', ')})`
    const members = inGlobalOrder(given)
    this.group = { name, context, members, needed }
    this.lockId = `${kind} ${members.map(({ id }) => id).join('\n')}`
  }

  /** For a multi lock or a RedLock of which it is a member. */
  get [MEMBER](): MemberIdentity {
    const { context, lockId } = this
    const { name, members } = this.group
    return {
      name,
      key: members.map(keyOf).join('\n'),
      lockId,
      client: context,
      server: undefined,
      mustYield: () => members.some(({ identity }) => identity?.mustYield()),
    }
  }

  /** Resolves with a hold, or with undefined when the wait was over. */
  protected abstract collect(options: AcquireArguments): Promise<MembersHold | undefined>

  async lock(first?: number | LockOptions, unit?: TimeUnit): Promise<void> {
    await this.acquireBare(lockArguments(first, unit))
  }

  async tryLock(
    first?: number | TryLockOptions,
    second?: number | TimeUnit,
    third?: TimeUnit,
  ): Promise<boolean> {
    return await this.acquireBare(tryLockArguments(first, second, third))
  }

  async acquire(options?: LockOptions): Promise<MembersHold> {
    return (await this.collectOpen(acquireOptions(options)))!
  }

  async tryAcquire(options?: TryLockOptions): Promise<MembersHold | undefined> {
    return await this.collectOpen(tryOptions(options))
  }

  async withLock<T>(fn: (hold: MembersHold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    let hold: MembersHold | undefined
    try {
      // Acquired as this thread, so that `fn` re-enters the members.
      hold = await processState.threads.run(thread, () => this.collectOpen(given))
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw this.timedOut(given.waitTime)
    if (given.threadId !== undefined) hold[ADOPT](thread)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    const { threadId: explicit, signal } = unlockOptions(options)
    this.context.assertNotClosed()
    await this.take(explicit).unlock({ signal })
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return this.newestOf(undefined)?.isHeld ?? false
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return this.newestOf(explicit)?.isHeld ?? false
  }

  // A log must not show the clients inside, which have credentials.
  [inspect.custom](): string {
    return this.group.name
  }

  toString(): string {
    return this.group.name
  }

  toJSON(): object {
    return { locks: this.group.members.map(({ name }) => name) }
  }

  private async acquireBare(options: AcquireArguments): Promise<boolean> {
    const caller = this.callerOf(options.threadId)
    const hold = await this.collectOpen(options)
    if (!hold) return false
    hold.thread = caller === unscopedCaller ? ambientThread() : caller.thread
    const place = caller.entryToAcquire(this.lockId)
    if (place) this.keep(hold, place, options.leaseTime)
    else {
      this.unscoped.add(hold)
      if (hold.thread) this.context.endedThreads.lockTaken(quote(this.group.name))
    }
    return true
  }

  /** Adds a level to what the caller holds. After a lease it is only kept for the late `unlock()` that reports the loss. */
  private keep(hold: MembersHold, place: HoldRef<Levels>, leaseTime: number | undefined) {
    const { table, key } = place
    const entry = table.getOrCreate(key)
    entry.hold ??= { lockId: this.lockId, place, levels: [] }
    const own = entry.hold
    own.levels.splice(0, own.levels.length, ...own.levels.filter(isLive), hold)
    if (leaseTime === undefined) return
    hold.onLost = () => {
      if (!own.levels.some(isLive)) table.retire(key, own)
    }
    hold.checkAfter(leaseTime)
  }

  /** Removes the hold that an `unlock()` settles, and returns it. */
  private take(explicit: number | undefined): MembersHold {
    const { lockId, unscoped } = this
    const { context, name } = this.group
    const caller = this.callerOf(explicit, true)
    const own = caller.holdOf(lockId) ?? caller.expiredHoldOf(lockId)
    if (own) {
      const hold = own.levels.pop()!
      if (own.levels.length === 0) own.place.table.forget(own.place.key, own)
      return hold
    }
    const thread = ambientThread()
    const isScoped = explicit !== undefined || thread?.isAlive
    const hold = isScoped ? undefined : unscoped.take(isLive, thread)
    if (hold === 'forgotten')
      throw new LockLostError(
        `A hold of the lock ${quote(name)} that this lock object took was lost long ago (client ${context.clientId}). ` +
          'Acquire the lock again where needed.',
        name,
      )
    if (!hold)
      throw new IllegalMonitorStateError(
        `The lock ${quote(name)} is not held by ${caller.description} (client ${context.clientId}). The caller that ` +
          'acquired a lock must release it, once.',
      )
    return hold
  }

  /** The hold that an `unlock()` would settle, if it is not lost. */
  private newestOf(explicit: number | undefined): MembersHold | undefined {
    const caller = this.callerOf(explicit, true)
    const own = caller.holdOf(this.lockId)
    const thread = ambientThread()
    if (own || explicit !== undefined || thread?.isAlive) return own?.levels.at(-1)
    return this.unscoped.peek(isLive, thread)
  }

  /** Code of an ended thread acquires without a scope. With `settles`, it is the caller of what that thread acquired. */
  private callerOf(explicit: number | undefined, settles = false): Caller<Levels> {
    if (explicit !== undefined) return this.context.explicitCallers.caller(explicit)
    const thread = ambientThread()
    return thread && (settles || thread.isAlive) ? new ThreadCaller(this.context, thread) : unscopedCaller
  }

  private collectOpen(options: AcquireArguments): Promise<MembersHold | undefined> {
    this.context.assertOpen()
    options.signal?.throwIfAborted()
    return this.collect(options)
  }

  private timedOut(waitTime = 0) {
    const { name, context } = this.group
    return new LockTimeoutError(
      `The lock ${quote(name)} was not acquired within its waitTime of ${waitTime} ms (client ${context.clientId}): other ` +
        'owners held too many of its members. Nothing was run. Wait longer, or use tryAcquire() where this is an ' +
        'ordinary result.',
      name,
    )
  }
}
