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
import { LockLostError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { RLock } from '../api/rlock'
import type { TimeUnit } from '../api/time-unit'
import { type Caller, nobody, ThreadCaller } from '../ownership/callers'
import type { Hold } from '../ownership/hold'
import { ambientThread, LogicalThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import type { AcquiredHold } from './acquired-hold'
import { acquire } from './acquiring'
import { type ClientContext, isLive, loseHold, notHeldError, quote } from './client-context'
import { clientsTold, type LockProtocol, NOT_HELD } from './lock-protocol'
import { release } from './releasing'

/** The RLock surface over any kind of lock; see the interface for what each method promises. */
export class RedissonLock implements RLock {
  private readonly unscoped = new UnscopedHolds()
  private readonly isLive = (hold: Hold) => isLive(this.context, hold)

  constructor(
    private readonly context: ClientContext,
    private readonly protocol: LockProtocol,
  ) {}

  getName(): string {
    return this.protocol.name
  }

  // Logged, it must not show the client inside with its credentials.
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
    return await this.acquireBare(tryLockArguments(first, second, third))
  }

  acquire(options?: LockOptions): Promise<LockHold> {
    return this.acquireByToken(acquireOptions, options) as Promise<LockHold>
  }

  tryAcquire(options?: TryLockOptions): Promise<LockHold | undefined> {
    return this.acquireByToken(tryOptions, options)
  }

  async withLock<T>(fn: (hold: LockHold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const ambient = ambientThread()
    const thread = new LogicalThread(ambient?.isAlive ? ambient : undefined)
    const caller = new ThreadCaller(this.context, thread)
    const hold = (await acquire(this.context, this.protocol, caller, withLockOptions(options), true))!
    let value: T
    try {
      value = await thread.run(() => fn(hold))
    } catch (error) {
      // What went wrong inside is the answer; a loss has its own ways of telling.
      await hold[Symbol.asyncDispose]().catch(() => {})
      throw error
    }
    try {
      await hold[Symbol.asyncDispose]()
    } catch (error) {
      if (error instanceof LockLostError) error.result = value
      throw error
    }
    return value
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    const explicit = unlockOptions(options)
    this.context.assertNotClosed()
    const ambient = ambientThread()
    const caller = this.caller(explicit)
    const scoped = explicit === undefined && ambient ? new ThreadCaller(this.context, ambient) : caller
    // Begun at once where nothing is under way, so that calls take effect in the order in which they are made.
    const acquiring = this.acquisitionUnderWay(scoped)
    if (acquiring) await acquiring.catch(() => {})
    const hold = this.scopedHold(scoped)
    if (hold) return await this.releaseBare(hold, scoped.description)
    if (caller !== nobody) throw this.notHeld(caller)
    const taken = this.unscoped.take(this.isLive)
    if (taken === undefined) throw this.notHeld(caller)
    if (taken === 'forgotten')
      throw new LockLostError('A hold taken through this lock object ran out long ago', this.getName())
    await this.releaseBare(taken, caller.description)
  }

  async forceUnlock(): Promise<boolean> {
    this.context.assertOpen()
    for (;;) {
      const { holders } = await this.protocol.inspect('')
      if (holders.length === 0) return false
      const before = this.protocol.lockIds.flatMap((id) => [...this.context.holds.on(id)])
      const { value, connectionBroke } = await this.protocol.forceRelease(holders).answer
      // Held by somebody else meanwhile: that one is as much to be freed as the first.
      if (value === NOT_HELD && !connectionBroke) continue
      const forced = before.filter(({ ownerField }) => holders.includes(ownerField))
      // A writer forced out takes along what it was reading: nobody else read beside it. "Not held", after a
      // break, is the echo of that as well, unless the writer itself has stepped down to reading meanwhile.
      const all =
        !this.protocol.shared && (value !== NOT_HELD || forced.some(({ state }) => state === 'held'))
      for (const hold of all ? before : forced) loseHold(this.context, hold, 'forced')
      this.context.waiting.freed(this.protocol, clientsTold(value))
      return true
    }
  }

  async isLocked(): Promise<boolean> {
    this.context.assertNotClosed()
    return (await this.protocol.inspect('')).holders.length > 0
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
    return (await this.protocol.inspect('')).timeToLive
  }

  private async acquireBare(options: AcquireArguments): Promise<boolean> {
    const caller = this.caller(options.threadId)
    const acquired = await acquire(this.context, this.protocol, caller, options, false)
    if (acquired && caller === nobody) this.unscoped.add(acquired.hold)
    return acquired !== undefined
  }

  private acquireByToken<T>(
    read: (options: T | undefined) => AcquireArguments,
    options: T | undefined,
  ): Promise<AcquiredHold | undefined> {
    try {
      const known = read(options)
      return acquire(this.context, this.protocol, this.caller(known.threadId), known, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  private caller(explicit: number | undefined): Caller {
    if (explicit !== undefined) return this.context.explicitCallers.caller(explicit)
    const thread = ambientThread()
    return thread?.isAlive ? new ThreadCaller(this.context, thread) : nobody
  }

  private acquisitionUnderWay(caller: Caller): Promise<unknown> | undefined {
    const place = caller.placeToAcquire(this.protocol.lockId)
    return place?.table.get(place.key)?.acquiring
  }

  /** The hold that an operation of this caller is about, expired ones included. */
  private scopedHold(caller: Caller): Hold | undefined {
    const { lockId } = this.protocol
    const place = caller.placeOfHold(lockId)
    const hold = place?.table.get(place.key)?.hold
    if (hold) return hold
    const expired = caller.placeOfExpired(lockId)
    return expired?.table.retired(expired.key)
  }

  private async releaseBare(hold: Hold, who: string): Promise<void> {
    await release(this.context, this.protocol, hold, () => {
      const level = hold.levels.findLast((each) => !each.byToken)
      if (!level) throw notHeldError(this.context, this.protocol.lockId, this.getName(), who)
      return level
    })
  }

  private async countOf(caller: Caller): Promise<number> {
    this.context.assertNotClosed()
    const place = caller.placeOfHold(this.protocol.lockId)
    const hold = caller === nobody ? this.unscoped.peek(this.isLive) : place?.table.get(place.key)?.hold
    if (!hold || !isLive(this.context, hold)) return 0
    const { count } = await this.protocol.inspect(hold.ownerField)
    if (count === 0 && hold.state === 'held') loseHold(this.context, hold, 'gone')
    return count
  }

  private notHeld(caller: Caller) {
    return notHeldError(this.context, this.protocol.lockId, this.getName(), caller.description)
  }
}
