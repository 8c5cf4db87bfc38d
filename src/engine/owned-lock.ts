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
import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { TimeUnit } from '../api/time-unit'
import type { Client } from '../client/client'
import type { Leased } from '../leases/leased'
import { type Acquirer, type Caller, callerOf, ThreadCaller, unscopedCaller } from '../ownership/caller'
import { BareLevels } from '../ownership/hold-table'
import { newChildThread } from '../ownership/logical-thread'
import type { OwnedLevel } from '../ownership/owned-hold'
import { unlessAborted } from '../util/abort'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { timedOut } from '../waiting/wait-errors'
import { ACQUIRE_FOR, HANDLE_OF, RELEASE_LEVEL } from './lock-internals'
import { notHeldError } from './not-held'
import { warnOfEndedThread, warnOfSharedObject } from './ownership-warnings'

/**
 * The calls of every lock that has owners; the interfaces document them. A subclass acquires and releases.
 */
export abstract class OwnedLock<L extends OwnedLevel, Handle extends LockHold> {
  /** What `lock()` and `tryLock()` of code without a thread acquired through this object. */
  unscoped: BareLevels<L> | undefined

  constructor(
    readonly client: Client,
    readonly names: Pick<Leased, 'objectId' | 'name' | 'key'>,
  ) {}

  /** Undefined: the wait was over. Never throws at once. */
  abstract [ACQUIRE_FOR](acquirer: Acquirer<L>, options: AcquireArguments): Promise<L | undefined>
  /** The right to release this level, for a caller that asked for it. */
  abstract [HANDLE_OF](level: L): Handle
  abstract [RELEASE_LEVEL](level: L): Promise<void>

  async lock(first?: number | LockOptions, unit?: TimeUnit): Promise<void> {
    await acquireLevel(this, lockArguments(first, unit), true)
  }

  async tryLock(...args: Parameters<typeof tryLockArguments>): Promise<boolean> {
    return (await acquireLevel(this, tryLockArguments(...args), true)) !== undefined
  }

  async acquire(options?: LockOptions): Promise<Handle> {
    const level = await acquireLevel(this, acquireOptions(options), false)
    return this[HANDLE_OF](level!)
  }

  async tryAcquire(options?: TryLockOptions): Promise<Handle | undefined> {
    const level = await acquireLevel(this, tryOptions(options), false)
    return level && this[HANDLE_OF](level)
  }

  async withLock<T>(fn: (hold: Handle) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    assertHasLock(this)
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    let level: L | undefined
    try {
      level = await acquireLevel(this, given, false, new ThreadCaller<L>(this.client, thread))
    } finally {
      if (!level) thread.end()
    }
    if (!level) throw timedOutFor(this, given.waitTime)
    const hold = this[HANDLE_OF](level)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    assertHasLock(this)
    if (options === undefined) return await releaseFor(this, undefined)
    const { threadId: explicit, signal } = unlockOptions(options)
    const released = releaseFor(this, explicit)
    await (signal ? unlessAborted(released, signal) : released)
  }

  async isHeldByCurrentThread(): Promise<boolean> {
    return (await countOf(this, undefined)) > 0
  }

  async isHeldByThread(id: number): Promise<boolean> {
    const explicit = threadId(id)
    if (explicit === undefined) throw new TypeError('isHeldByThread expects a threadId')
    return (await countOf(this, explicit)) > 0
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each engine has handles of its own.
type LockOf<L extends OwnedLevel> = OwnedLock<L, any>

/** How many levels this caller has; those of another thread that is inside its hold count. */
export async function countOf<L extends OwnedLevel>(
  lock: LockOf<L>,
  explicit: number | undefined,
): Promise<number> {
  lock.client.assertNotClosed()
  const caller = callerOf<L>(lock.client, explicit)
  const { objectId } = lock.names
  const hold = caller.isScoped
    ? caller.holdOf(objectId)
    : caller.nextToUnlock(objectId, lock.unscoped)?.level?.hold
  return hold?.checkLive() ? await hold.countLevels() : 0
}

/**
 * Any acquisition. `isBare`: an `unlock()` of the caller ends the level; otherwise its handle alone does. A
 * call that gives no waitTime has the one of the client, and rejects after it.
 *
 * Not async, for the sake of waiters: as an async function it kept 160 bytes more for each of them.
 */
export function acquireLevel<L extends OwnedLevel>(
  lock: LockOf<L>,
  options: AcquireArguments,
  isBare: boolean,
  given?: Caller<L>,
): Promise<L | undefined> {
  assertHasLock(lock)
  const { client, names } = lock
  const caller = given ?? callerOf<L>(client, options.threadId)
  const entry = caller.entryToAcquire(names.objectId)
  if (entry?.bare.loss) throw entry.bare.loss
  if (entry?.enter() === false)
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(names.name)} already (client ` +
        `${client.clientId}). A caller acquires a lock once at a time: give each concurrent branch its own ` +
        'redisson.run() or threadId.',
    )
  const bare = isBare ? (entry?.bare ?? caller.bareLevels?.(names.objectId) ?? unscopedOf(lock)) : undefined
  bare?.begin()
  return lock[ACQUIRE_FOR]({ caller, entry, bare }, options).then(
    (level) => {
      bare?.end(level)
      entry?.leave()
      if (!level && options.waitTime === undefined) throw timedOutFor(lock, client.options.waitTime)
      if (level && bare && !caller.isScoped && caller.thread) warnOfEndedThread(client, names.name)
      return level
    },
    (error) => {
      bare?.end(undefined)
      entry?.leave()
      throw error
    },
  )
}

function unscopedOf<L extends OwnedLevel>(lock: LockOf<L>): BareLevels<L> {
  lock.unscoped ??= new BareLevels()
  return lock.unscoped
}

/** The error of a call that has to acquire the lock, and whose wait was over. */
function timedOutFor({ names, client }: Pick<OwnedLock<never, never>, 'client' | 'names'>, waitTime = 0) {
  return timedOut('lock', names.name, waitTime, client.clientId)
}

async function releaseFor<L extends OwnedLevel>(
  lock: LockOf<L>,
  explicit: number | undefined,
): Promise<void> {
  const { client, unscoped, names } = lock
  const caller = callerOf<L>(client, explicit)
  // Without an acquisition in flight the release starts at once, so that calls take effect in their order.
  const inFlight = caller.acquisitionInFlight(names.objectId)
  if (inFlight) await inFlight
  const target = caller.nextToUnlock(names.objectId, unscoped)
  if (target?.level) return await releaseBare(lock, caller, target.among, target.level)
  const isAcquiring = caller === unscopedCaller && unscoped?.isAcquiring === true
  client.assertNotClosed()
  if (!target) throw notHeldError(client, names, caller.description, isAcquiring)
  const loss = target.among.settleOwed()
  // Without a scope the loss may be that of another caller.
  if (loss && caller.isScoped) throw loss
  throw lostBefore(lock, caller.description, target.among.hasLive)
}

async function releaseBare<L extends OwnedLevel>(
  lock: LockOf<L>,
  { isScoped }: Caller<L>,
  among: BareLevels<L>,
  level: L,
): Promise<void> {
  const isDoubtful = !isScoped && among.hasFailedBeside(level)
  // From now on no other `unlock()` ends it.
  among.unlocked(level)
  // Nothing distinguishes the callers, so this `unlock()` may end another hold than its caller means.
  if (isDoubtful) warnOfSharedObject(lock.client, lock.names.name, level.hold.holder)
  await lock[RELEASE_LEVEL](level)
}

/** `stays`: another hold of the same callers is held. */
function lostBefore(
  { client, names }: Pick<OwnedLock<never, never>, 'client' | 'names'>,
  caller: string,
  stays: boolean,
) {
  const other = stays
    ? ' Another hold of it stays held until the next unlock(): each lock() needs its own, also one with a ' +
      'lease.'
    : ''
  return new LockLostError(
    `A hold of the lock ${quote(names.name)} that ${caller} took was lost, or its lease ended, before ` +
      `this unlock() (client ${client.clientId}). Acquire the lock again where needed.${other}`,
    names.name,
  )
}

function assertHasLock(lock: unknown) {
  if (lock === undefined)
    throw new TypeError('the method was taken out of its lock: write lock.lock(), and not const { lock } = …')
}
