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
import type { Leased } from '../leases/lease'
import { BareLevels } from '../ownership/bare-levels'
import { type Caller, explicitCaller, ThreadCaller, unscopedCaller } from '../ownership/caller'
import { endedThreadCaller } from '../ownership/ended-thread-caller'
import type { HoldEntry, HoldTable } from '../ownership/hold-table'
import { ambientThread, newChildThread } from '../ownership/logical-thread'
import type { LevelOf, OwnedHold } from '../ownership/owned-hold'
import { unlessAborted } from '../util/abort'
import { disposeAfter } from '../util/dispose-after'
import { quote } from '../util/quote'
import { timedOut } from '../waiting/wait-errors'
import { ACQUIRE_FOR, ASSERT_MAY_RELEASE, HANDLE_OF, LEVELS_OF, RELEASE_LEVEL } from './lock-internals'
import { notHeldError } from './not-held'
import { warnOfEndedThread, warnOfSharedObject } from './ownership-warnings'

/**
 * The calls of every lock that has owners; the interfaces document them. A subclass acquires and releases.
 */
// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
export abstract class OwnedLock<H extends OwnedHold<any>, Handle extends LockHold> {
  /** What `lock()` and `tryLock()` of code without a thread acquired through this object. */
  readonly unscoped = new BareLevels<LevelOf<H>>()
  /** How many calls without a scope are acquiring the lock through this object. */
  acquiring = 0

  constructor(
    readonly client: Client,
    readonly subject: Pick<Leased, 'objectId' | 'name' | 'key'>,
  ) {}

  /**
   * Undefined: the wait was over. `entry`: absent without a scope, and while the caller acquires this lock
   * already. `bare`: where the level belongs, if an `unlock()` has to end it.
   */
  abstract [ACQUIRE_FOR](
    caller: Caller<H>,
    options: AcquireArguments,
    entry?: HoldEntry<H>,
    bare?: BareLevels<LevelOf<H>>,
  ): Promise<LevelOf<H> | undefined>
  /** The right to release this level, for a caller that asked for it. */
  abstract [HANDLE_OF](level: LevelOf<H>): Handle
  abstract [RELEASE_LEVEL](level: LevelOf<H>): Promise<void>
  /** How many levels a live hold has. */
  abstract [LEVELS_OF](hold: H): Promise<number>

  async lock(first?: number | LockOptions, unit?: TimeUnit): Promise<void> {
    await acquireAsAsked(this, () => lockArguments(first, unit), false)
  }

  async tryLock(...args: Parameters<typeof tryLockArguments>): Promise<boolean> {
    return (await acquireAsAsked(this, () => tryLockArguments(...args), false)) !== undefined
  }

  // Not async, nor is the next one: a further async function costs a process with many callers some percent
  // of its time.
  acquire(options?: LockOptions): Promise<Handle> {
    return acquireAsAsked(this, () => acquireOptions(options), true) as Promise<Handle>
  }

  tryAcquire(options?: TryLockOptions): Promise<Handle | undefined> {
    return acquireAsAsked(this, () => tryOptions(options), true) as Promise<Handle | undefined>
  }

  async withLock<T>(fn: (hold: Handle) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    assertHasLock(this)
    if (typeof fn !== 'function') throw new TypeError('withLock expects a function')
    const given = withLockOptions(options)
    const thread = newChildThread()
    let hold: Handle | undefined
    try {
      const caller = new ThreadCaller<H>(this.client, thread)
      hold = (await acquireAsAsked(this, () => given, true, caller)) as Handle | undefined
    } finally {
      if (!hold) thread.end()
    }
    if (!hold) throw timedOutFor(this, given.waitTime)
    return await disposeAfter(hold, () => thread.run(() => fn(hold)), LockLostError)
  }

  async unlock(options?: UnlockOptions): Promise<void> {
    assertHasLock(this)
    const { threadId: explicit, signal } = unlockOptions(options)
    this[ASSERT_MAY_RELEASE]()
    const released = releaseFor(this, explicit)
    await (signal ? unlessAborted(released, signal) : released)
  }

  /** Throws if nothing could be released, because the client is shut down. */
  protected [ASSERT_MAY_RELEASE](): void {
    this.client.assertNotClosed()
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

// biome-ignore lint/suspicious/noExplicitAny: each engine has levels and handles of its own.
type LockOf<H extends OwnedHold<any>> = OwnedLock<H, any>

/** How many levels this caller has; those of another thread that is inside its hold count. */
// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
export async function countOf<H extends OwnedHold<any>>(
  lock: LockOf<H>,
  explicit: number | undefined,
): Promise<number> {
  lock.client.assertNotClosed()
  const caller = callerOf(lock, explicit)
  const { objectId } = lock.subject
  const hold = caller.isScoped
    ? caller.holdOf(objectId)
    : (caller.bareLevel(objectId, lock.unscoped)?.level?.hold as H | undefined)
  return hold?.checkLive() ? await lock[LEVELS_OF](hold) : 0
}

/** What an `unlock()` of a caller without a scope ends. */
// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
function bareLevelsOf<H extends OwnedHold<any>>(lock: LockOf<H>, caller: Caller<H>): BareLevels<LevelOf<H>> {
  return caller.bareLevels?.(lock.subject.objectId) ?? lock.unscoped
}

// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
function callerOf<H extends OwnedHold<any>>({ client }: LockOf<H>, explicit: number | undefined): Caller<H> {
  if (explicit !== undefined) return explicitCaller(client.explicitHolds as HoldTable<H>, explicit)
  const thread = ambientThread()
  if (!thread) return unscopedCaller as Caller<H>
  return thread.isAlive ? new ThreadCaller<H>(client, thread) : endedThreadCaller<H>(client, thread)
}

// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
async function releaseFor<H extends OwnedHold<any>>(
  lock: LockOf<H>,
  explicit: number | undefined,
): Promise<void> {
  const { client, unscoped, subject } = lock
  const { objectId, name } = subject
  const caller = callerOf(lock, explicit)
  // Without an acquisition in flight the release starts at once, so that calls take effect in their order.
  const settled = caller.settled(objectId)
  if (settled) await settled
  const bare = caller.bareLevel(objectId, unscoped)
  const isAcquiring = caller === unscopedCaller && lock.acquiring > 0
  if (!bare) throw notHeldError(client, subject, caller.description, isAcquiring)
  const { within, level } = bare
  // From now on no other `unlock()` ends it.
  within.remove(level)
  if (!level) throw lostBefore(lock, caller.description, within.hasLive)
  // Nothing distinguishes the callers, so this `unlock()` may end another hold than its caller means.
  const { hold } = level
  if (!caller.isScoped && hold.hasFailedBeside) warnOfSharedObject(client, name, hold.holder)
  await lock[RELEASE_LEVEL](level)
}

function timedOutFor({ subject, client }: Pick<OwnedLock<never, never>, 'client' | 'subject'>, waitTime = 0) {
  return timedOut('lock', subject.name, waitTime, client.clientId)
}

/**
 * Any acquisition. With `byToken` it resolves with a handle, which alone releases it, otherwise with a level,
 * which an `unlock()` of the caller ends. A call that gives no waitTime has the one of the client, and
 * rejects after it.
 */
// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
export async function acquireAsAsked<H extends OwnedHold<any>, Handle extends LockHold>(
  lock: OwnedLock<H, Handle>,
  asked: () => AcquireArguments,
  byToken: boolean,
  given?: Caller<H>,
): Promise<Handle | LevelOf<H> | undefined> {
  assertHasLock(lock)
  const options = asked()
  const { client, subject } = lock
  const waitTime = client.limitOf(options.waitTime)
  const caller = given ?? callerOf(lock, options.threadId)
  const isLimited = options.waitTime === undefined && waitTime !== undefined
  const isNoted = !byToken && !caller.isScoped
  const entry = caller.entryToAcquire(subject.objectId)
  if (entry?.loss) throw entry.loss
  if (entry?.begin() === false)
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(subject.name)} already (client ` +
        `${client.clientId}). A caller acquires a lock once at a time: give each concurrent branch its own ` +
        'redisson.run() or threadId.',
    )
  const bare = byToken ? undefined : entry ? entry.bare : bareLevelsOf(lock, caller)
  let level: LevelOf<H> | undefined
  if (isNoted) lock.acquiring++
  try {
    level = await lock[ACQUIRE_FOR](
      caller,
      waitTime === options.waitTime ? options : { ...options, waitTime },
      entry,
      bare,
    )
  } finally {
    entry?.end()
    if (isNoted) lock.acquiring--
    if (!level) {
      bare?.tidy()
      // Also where it rejects: `unlock()` in `finally` follows a `lock()` that was aborted, too.
      if (isNoted) for (const { hold } of bare!) hold.hasFailedBeside = true
    }
  }
  if (!level && isLimited) throw timedOutFor(lock, waitTime)
  if (level && isNoted && caller.thread) warnOfEndedThread(client, subject.name)
  return level && byToken ? lock[HANDLE_OF](level) : level
}

/** `stays`: another hold of the same callers is held. */
function lostBefore(
  { client, subject }: Pick<OwnedLock<never, never>, 'client' | 'subject'>,
  caller: string,
  stays: boolean,
) {
  const other = stays
    ? ' Another hold of it stays held until the next unlock(): each lock() needs its own, also one with a ' +
      'lease.'
    : ''
  return new LockLostError(
    `A hold of the lock ${quote(subject.name)} that ${caller} took was lost, or its lease ended, before ` +
      `this unlock() (client ${client.clientId}). Acquire the lock again where needed.${other}`,
    subject.name,
  )
}

function assertHasLock(lock: unknown) {
  if (lock === undefined)
    throw new TypeError('the method was taken out of its lock: write lock.lock(), and not const { lock } = …')
}
