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
import { LockLostError, LockTimeoutError } from '../api/errors'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { MUST_YIELD } from '../client/member-identity'
import { newChildThread } from '../ownership/logical-thread'
import { processState } from '../ownership/process-state'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { CallerHolds } from './caller-holds'
import { inGlobalOrder, type Member, toYield, type Union } from './member'
import { cut } from './member-states'
import type { UnionHold } from './union-hold'

let foreign = 0
const foreignIds = new WeakMap<object, number>()

/** The methods that a multi lock and a RedLock share; the interfaces document them. */
export abstract class UnionLock {
  protected readonly union: Union
  /** In the global order. */
  protected readonly members: readonly Member[]
  private readonly callers: CallerHolds

  constructor(
    protected readonly context: Context,
    members: readonly Member[],
    kind: string,
    needed: number,
  ) {
    const name = `${kind}(${members.map((member) => cut(member.name)).join(', ')})`
    this.union = { name, clientId: context.clientId, clock: context.clock, needed, of: members.length }
    this.members = inGlobalOrder(members)
    this.callers = new CallerHolds(context, `${kind} ${this.members.map(idOf).join('\n')}`, name)
  }

  /** For a multi lock or a RedLock of which it is a member. */
  get [MUST_YIELD](): boolean {
    return toYield(this.members) !== undefined
  }

  /** Resolves with a hold, or with undefined when the wait was over. */
  protected abstract collect(options: AcquireArguments): Promise<UnionHold | undefined>

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

  async acquire(options?: LockOptions): Promise<UnionHold> {
    return (await this.collectOpen(acquireOptions(options)))!
  }

  async tryAcquire(options?: TryLockOptions): Promise<UnionHold | undefined> {
    return await this.collectOpen(tryOptions(options))
  }

  async withLock<T>(fn: (hold: UnionHold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    let hold: UnionHold | undefined
    try {
      // Acquired as this thread, so that `fn` re-enters the members.
      hold = await processState.threads.run(thread, () => this.collectOpen(given))
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw this.timedOut(given.waitTime)
    if (given.threadId !== undefined) hold.adoptBy(thread)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    const { threadId: explicit, signal } = unlockOptions(options)
    this.context.assertNotClosed()
    await this.callers.take(explicit).unlock({ signal })
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return this.callers.peek(undefined)?.isHeld ?? false
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return this.callers.peek(explicit)?.isHeld ?? false
  }

  // A log must not show the clients inside, which have credentials.
  [inspect.custom](): string {
    return this.union.name
  }

  /** The name of this lock as a member. An enclosing multi lock orders its members by it. */
  toString(): string {
    return this.union.name
  }

  toJSON(): object {
    return { locks: this.members.map(({ name }) => name) }
  }

  private async acquireBare(options: AcquireArguments): Promise<boolean> {
    const hold = await this.collectOpen(options)
    if (!hold) return false
    this.callers.add(hold, options.threadId)
    if (hold.thread?.isAlive === false) this.context.endedThreads.lockTaken(quote(this.union.name))
    return true
  }

  private collectOpen(options: AcquireArguments): Promise<UnionHold | undefined> {
    this.context.assertOpen()
    options.signal?.throwIfAborted()
    return this.collect(options)
  }

  private timedOut(waitTime = 0) {
    const { name, clientId } = this.union
    return new LockTimeoutError(
      `The lock ${quote(name)} was not acquired within its waitTime of ${waitTime} ms (client ${clientId}): other ` +
        'owners held too many of its members. Nothing was run. Wait longer, or use tryAcquire() where this is an ' +
        'ordinary result.',
      name,
    )
  }
}

/** The identity of a member. Two objects of one lock have the same identity. */
function idOf({ lock, name, identity }: Member): string {
  if (identity) return `${identity.context.server.id} ${identity.lockId}`
  let id = foreignIds.get(lock)
  if (id === undefined) {
    id = foreign++
    foreignIds.set(lock, id)
  }
  return `${name} ${id}`
}
