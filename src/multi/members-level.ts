import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import { LockLostError, type LockMember } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import { releasedAlready } from '../engine/not-held'
import type { LogicalThread } from '../ownership/logical-thread'
import type { OwnedHold } from '../ownership/owned-hold'
import { type OwnedLevel, TIME_LEFT } from '../ownership/owned-hold'
import { processState } from '../ownership/process-state'
import { onAbort, unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { LazySignal } from '../util/lazy-signal'
import { quote } from '../util/quote'
import type { MemberGroup } from './member'
import { describeStates, failureOf, stateOf } from './member-states'
import { releaseParts, settledInTime } from './release-members'
import type { Part } from './try-member'

/** The codes of errors that say that a hold was gone at its release. */
const LOST: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_LOST']

/** An acquisition of a multi lock or a RedLock, as an object. */
export interface MultiLockHold extends LockHold {
  /** The name of the lock in messages. */
  readonly lockName: string
  /** The owners of the members, as their servers have them, separated by spaces. */
  readonly owner: string
  /**
   * An id of this acquisition in this process. No server knows it: each member has a `threadId` of its own.
   */
  readonly threadId: number
  /** The holds of the members, in the order in which they were acquired. */
  readonly holds: readonly LockHold[]
}

/** The hold to which a level belongs, as far as the level needs it. */
interface HoldOfLevel extends OwnedHold<MembersLevel> {
  readonly levels: Set<MembersLevel>
  /** One of its levels was lost, or has expired. */
  lost(level: MembersLevel): void
  forgetUnlessNeeded(): void
}

/**
 * An acquisition of a multi lock: several holds as one. It is lost as soon as fewer members are held than
 * needed.
 */
export class MembersLevel implements MultiLockHold, OwnedLevel {
  /** When its first member was asked for. The lease of that one ends first. */
  readonly granted: Moment
  readonly threadId = processState.nextThreadId++
  /** All that its caller holds. */
  hold!: HoldOfLevel
  thread: LogicalThread | undefined
  /**
   * In ms. Undefined: until `unlock()`, the watchdogs renew its members, also those that a lost hold still
   * has.
   */
  leaseTime: number | undefined
  bareIn: OwnedLevel['bareIn']
  readonly level = this
  unlocked = false
  loss: LockLostError | undefined
  /** Of what its members still have, since it was lost. */
  releasing: Promise<void> | undefined
  readonly lossSignal = new LazySignal()
  /** Undefined until it notices a loss by itself. */
  stopWatching: (() => void)[] | undefined

  constructor(
    readonly group: MemberGroup,
    public parts: readonly Part[],
    /** When its round began. A member may have been acquired in a wait before. */
    since: Moment,
    /** How long an acquisition with a lease is valid, in ms. The members have their own deadlines as well. */
    readonly validFor: number | undefined,
  ) {
    // A hold of this package knows when its acquisition was sent.
    const grants = parts.map(({ hold }) => (hold as { level?: { granted: Moment } }).level?.granted ?? since)
    this.granted = grants.reduce((one, other) => (one.monotonic < other.monotonic ? one : other), since)
  }

  get lockName(): string {
    return this.group.name
  }

  get holds(): readonly LockHold[] {
    return this.parts.map(({ hold }) => hold)
  }

  get owner(): string {
    return this.parts.map(({ hold }) => hold.owner).join(' ')
  }

  get isHeld(): boolean {
    return !this.unlocked && isLive(this)
  }

  get [TIME_LEFT](): number {
    return this.isHeld ? Math.max(1, leftOf(this, this.leaseTime)) : 0
  }

  get signal(): AbortSignal {
    const { signal } = this.lossSignal
    if (isLive(this)) watchMembers(this)
    return signal
  }

  async unlock(options?: ReleaseOptions): Promise<void> {
    const { signal } = releaseOptions(options)
    if (this.unlocked) throw releasedAlready(this.group.client, this)
    const wasHeld = isLive(this)
    this.unlocked = true
    this.hold.levels.delete(this)
    this.hold.forgetUnlessNeeded()
    if (this.loss && this.parts.length === 0) {
      // Its caller may acquire again at once, and would meet what is being released.
      await unlessAborted(Promise.resolve(this.releasing), signal)
      throw this.loss
    }
    stop(this)
    await unlessAborted(releaseAll(this, wasHeld), signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  // A log must not show the clients inside.
  [inspect.custom](): string {
    return `MultiLockHold(${quote(this.lockName)})`
  }

  toJSON(): object {
    return { lockName: this.lockName, holds: this.holds.map(({ lockName }) => ({ lockName })) }
  }
}

// Functions and no methods, because a caller has the object.

/** Whether enough members are held, as far as the client knows without asking the servers. */
export function isLive(level: MembersLevel): boolean {
  const { loss, unlocked } = level
  if (loss) return false
  if (unlocked || hasEnough(level)) return true
  lose(level)
  return false
}

/**
 * Whether its time is not over, and enough members are held. It changes nothing, so that it may be asked
 * before a caller has the hold.
 */
export function hasEnough(level: MembersLevel): boolean {
  const { group, parts, validFor } = level
  return leftOf(level, validFor) > 0 && parts.filter(({ hold }) => hold.isHeld).length >= group.needed
}

/** How much of a time from the start of the acquisition is left, in ms. */
function leftOf({ group, granted }: MembersLevel, ms = Number.POSITIVE_INFINITY): number {
  return ms - group.client.clock.elapsedSince(granted)
}

/** Notices a loss by itself from now on. */
export function watchMembers(level: MembersLevel) {
  const { unlocked, stopWatching, parts, validFor, group } = level
  if (unlocked || stopWatching) return
  const stops: (() => void)[] = []
  level.stopWatching = stops
  for (const { hold } of parts) {
    const { signal } = hold
    if (signal.aborted) memberGone(level, signal.reason)
    else stops.push(onAbort(signal, () => memberGone(level, signal.reason)))
  }
  if (validFor !== undefined) {
    const timer = group.client.clock.after(leftOf(level, validFor), () => isLive(level))
    stops.push(() => timer.cancel())
  }
  if (level.loss) stop(level)
}

function memberGone(level: MembersLevel, reason: unknown) {
  const left = level.parts.filter(({ hold }) => hold.isHeld && !hold.signal.aborted)
  if (left.length >= level.group.needed) return
  if (codeOf(reason) === 'REDISSON_SHUTDOWN') level.lossSignal.abort(reason)
  else lose(level)
}

function lose(level: MembersLevel) {
  if (level.loss || level.unlocked) return
  const states = level.parts.map(({ member, hold }) =>
    hold.isHeld ? stateOf(member, 'held') : stateOf(member, 'lost', hold.signal.reason),
  )
  const { parts } = level
  level.loss = lossError(
    level,
    states,
    parts.map(({ hold }) => !hold.isHeld && hold.signal.reason),
  )
  stop(level)
  level.lossSignal.abort(level.loss)
  abandon(level)
  level.hold.lost(level)
}

/**
 * It is lost: releases what its members still have. Its own `unlock()` may come late, and says that it was
 * lost.
 */
export function abandon(level: MembersLevel): void {
  stop(level)
  level.releasing = releaseParts(level.parts, level.group.client.clock)
  level.parts = []
}

function stop({ stopWatching = [] }: MembersLevel) {
  for (const each of stopWatching.splice(0)) each()
}

/**
 * Releases all members at once, even if some of them fail, and then reports. So few members that the others
 * are a quorum are waited for a second only; their releases go on in the background.
 */
async function releaseAll(level: MembersLevel, wasHeld: boolean): Promise<void> {
  const { parts, group } = level
  const { client, members, needed } = group
  const states = parts.map(({ member }): LockMember => stateOf(member, 'unreachable'))
  const errors: unknown[] = []
  const releases = parts.map(async ({ member, hold }, index) => {
    try {
      await hold.unlock()
      states[index] = stateOf(member, 'released')
    } catch (error) {
      // Lost, or other code released the member by itself.
      const isLost = LOST.includes(codeOf(error))
      states[index] = stateOf(member, isLost ? 'lost' : failureOf(error), error)
      errors.push(error)
    }
  })
  const count = (wanted: string) => states.filter(({ state }) => state === wanted).length
  const isLost = () => !wasHeld || count('lost') > parts.length - needed
  const isFree = () => parts.length - count('released') <= members.length - needed
  await settledInTime(releases, client.clock)
  if (!isLost() && !isFree()) await Promise.all(releases)
  if (isLost()) throw lossError(level, states, errors)
  if (!isFree()) throw errors[0]
}

/** `errors`: of the members, among others. */
function lossError({ threadId, group }: MembersLevel, members: readonly LockMember[], errors: unknown[]) {
  const { name, client, needed } = group
  const error = new LockLostError(
    `The lock ${quote(name)} was lost (client ${client.clientId}): ${describeStates(members)}; ${needed} ` +
      'must be held. Other clients may hold the lost members: stop working under the lock, and acquire it ' +
      'again where needed.',
    name,
    threadId,
  )
  error.reason = errors.find((each) => each instanceof LockLostError)?.reason
  return Object.assign(error, { members })
}
