import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import { LockLostError, type LockMember } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import { ADOPT } from '../client/member-identity'
import { releasedAlready } from '../engine/not-held'
import { ABANDON, type OwnedLevel, TIME_LEFT } from '../ownership/bare-levels'
import { type HoldEntry, ThreadCaller } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import type { OwnedHold } from '../ownership/owned-hold'
import { newThreadId } from '../ownership/process-state'
import { onAbort, unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { LazySignal } from '../util/lazy-signal'
import { quote } from '../util/quote'
import type { MemberGroup } from './member'
import { describeStates, failureOf, stateOf } from './member-states'
import { type Part, releaseParts, settledInTime } from './try-member'

const CHECK_HELD = Symbol('checkHeld')
const LEFT_OF = Symbol('leftOf')
const WATCH_MEMBERS = Symbol('watchMembers')
const MEMBER_GONE = Symbol('memberGone')
const LOSE = Symbol('lose')
const STOP = Symbol('stop')
const RELEASE = Symbol('release')

/** The codes of errors that say that a hold was gone at its release. */
const LOST: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_LOST']

/** An acquisition of a multi lock or a RedLock, as an object. */
export interface MultiLockHold extends LockHold {
  /** The name of the lock in messages. */
  readonly lockName: string
  /** The owners of the members, as their servers have them, separated by spaces. */
  readonly owner: string
  /** An id of this acquisition in this process. No server knows it: each member has a `threadId` of its own. */
  readonly threadId: number
  /** The holds of the members, in the order in which they were acquired. */
  readonly holds: readonly LockHold[]
}

/** Several holds as one. It is lost as soon as fewer members are held than needed. */
export class MembersHold implements MultiLockHold, OwnedLevel {
  readonly threadId = newThreadId()
  /** All that its caller holds. */
  hold!: LevelsHold
  thread: LogicalThread | undefined
  /** In ms. Undefined: until `unlock()`, the watchdogs renew its members, also those that a lost hold still has. */
  leaseTime: number | undefined
  bareIn: OwnedLevel['bareIn']
  readonly level = this
  private unlocked = false
  loss: LockLostError | undefined
  private isWatching = false
  private readonly lossSignal = new LazySignal()
  private readonly stopWatching: (() => void)[] = []

  constructor(
    private readonly group: MemberGroup,
    private parts: readonly Part[],
    /** When its first member was asked for. The lease of that one ends first. */
    private readonly since: Moment,
    /** How long an acquisition with a lease is valid, in ms. The members have their own deadlines as well. */
    private readonly validFor: number | undefined,
  ) {}

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
    return !this.unlocked && this[CHECK_HELD]()
  }

  get [TIME_LEFT](): number {
    return this.isHeld ? Math.max(1, this[LEFT_OF](this.leaseTime)) : 0
  }

  get signal(): AbortSignal {
    const { signal } = this.lossSignal
    if (this[CHECK_HELD]()) this[WATCH_MEMBERS]()
    return signal
  }

  async unlock(options?: ReleaseOptions): Promise<void> {
    const { signal } = releaseOptions(options)
    if (this.unlocked) throw releasedAlready(this.group.context, this)
    const wasHeld = this[CHECK_HELD]()
    this.unlocked = true
    this.hold.remove(this)
    if (this.loss && this.parts.length === 0) throw this.loss
    this[STOP]()
    await unlessAborted(this[RELEASE](wasHeld), signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  /** From now on the thread finds this hold, and those of the members, as its own. */
  [ADOPT](thread: LogicalThread): void {
    const { entry, objectId } = this.hold
    if (entry) new ThreadCaller<LevelsHold>(this.group.context, thread).adopt(entry, objectId)
    for (const { hold } of this.parts) (hold as { [ADOPT]?(by: LogicalThread): void })[ADOPT]?.(thread)
  }

  /** It is lost: releases what its members still have. Its own `unlock()` may come late, and says that it was lost. */
  [ABANDON](): void {
    this[STOP]()
    void releaseParts(this.parts, this.group.context.clock)
    this.parts = []
  }

  // A log must not show the clients inside.
  [inspect.custom](): string {
    return `MultiLockHold(${quote(this.lockName)})`
  }

  toJSON(): object {
    return { lockName: this.lockName, holds: this.holds.map(({ lockName }) => ({ lockName })) }
  }

  /** Whether enough members are held, as far as the client knows without asking the servers. */
  [CHECK_HELD](): boolean {
    if (this.loss) return false
    const { group, parts } = this
    if (this.unlocked) return true
    const isValid = this[LEFT_OF](this.validFor) > 0
    if (isValid && parts.filter(({ hold }) => hold.isHeld).length >= group.needed) return true
    this[LOSE]()
    return false
  }

  /** How much of a time from the start of the acquisition is left, in ms. */
  private [LEFT_OF](ms = Number.POSITIVE_INFINITY): number {
    return ms - this.group.context.clock.elapsedSince(this.since)
  }

  /** Notices a loss by itself from now on. */
  [WATCH_MEMBERS](): void {
    if (this.unlocked || this.isWatching) return
    this.isWatching = true
    const { parts, validFor } = this
    for (const { hold } of parts) {
      const { signal } = hold
      if (signal.aborted) this[MEMBER_GONE](signal.reason)
      else this.stopWatching.push(onAbort(signal, () => this[MEMBER_GONE](signal.reason)))
    }
    if (validFor !== undefined) {
      const timer = this.group.context.clock.after(this[LEFT_OF](validFor), () => this[CHECK_HELD]())
      this.stopWatching.push(() => timer.cancel())
    }
    if (this.loss) this[STOP]()
  }

  private [MEMBER_GONE](reason: unknown) {
    const left = this.parts.filter(({ hold }) => hold.isHeld && !hold.signal.aborted)
    if (left.length >= this.group.needed) return
    if (codeOf(reason) === 'REDISSON_SHUTDOWN') this.lossSignal.abort(reason)
    else this[LOSE]()
  }

  private [LOSE]() {
    if (this.loss || this.unlocked) return
    const states = this.parts.map(({ member, hold }) =>
      hold.isHeld ? stateOf(member, 'held') : stateOf(member, 'lost', hold.signal.reason),
    )
    this.loss = lossError(this, this.group, states)
    this[STOP]()
    this.lossSignal.abort(this.loss)
    // A level with a lease may never be released, and then nobody else would release what its members still have.
    if (this.leaseTime === undefined) return
    this[ABANDON]()
    this.hold.forgetUnlessNeeded()
  }

  private [STOP]() {
    for (const stop of this.stopWatching.splice(0)) stop()
  }

  /**
   * Releases all members at once, even if some of them fail, and then reports. So few members that the others are a quorum
   * are waited for a second only; their releases go on in the background.
   */
  private async [RELEASE](wasHeld: boolean): Promise<void> {
    const { parts, group } = this
    const { context, members, needed } = group
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
    await settledInTime(releases, context.clock)
    if (!isLost() && !isFree()) await Promise.all(releases)
    if (isLost()) throw lossError(this, group, states)
    if (!isFree()) throw errors[0]
  }
}

function lossError({ threadId }: MembersHold, group: MemberGroup, members: readonly LockMember[]) {
  const { name, context, needed } = group
  const error = new LockLostError(
    `The lock ${quote(name)} was lost (client ${context.clientId}): ${describeStates(members)}; ${needed} must be held. ` +
      'Other clients may hold the lost members: stop working under the lock, and acquire it again where needed.',
    name,
    threadId,
  )
  error.members = members
  return error
}

/** What one caller holds over the same members: a level for each acquisition. */
export class LevelsHold implements OwnedHold<MembersHold> {
  readonly levels = new Set<MembersHold>()

  constructor(
    readonly objectId: string,
    readonly entry: HoldEntry<LevelsHold> | undefined,
  ) {
    if (entry) entry.hold = this
  }

  add(level: MembersHold, leaseTime: number | undefined, thread: LogicalThread | undefined): void {
    level.hold = this
    level.thread = thread
    level.leaseTime = leaseTime
    this.levels.add(level)
    if (leaseTime !== undefined && this.entry) level[WATCH_MEMBERS]()
  }

  get holder(): string {
    return [...this.levels].map(({ threadId }) => `thread id ${threadId}`).join(', ')
  }

  checkLive(): boolean {
    return [...this.levels].some(({ isHeld }) => isHeld)
  }

  /** Throws if a level was lost that its caller has yet to release. */
  assertNotLost(): void {
    this.checkLive()
    for (const level of this.levels)
      if (level.leaseTime === undefined && !level[CHECK_HELD]()) throw level.loss
  }

  /** Its caller releases this level. */
  remove(level: MembersHold): void {
    this.levels.delete(level)
    this.forgetUnlessNeeded()
  }

  forgetUnlessNeeded(): void {
    const isNeeded = [...this.levels].some(({ isHeld, leaseTime }) => isHeld || leaseTime === undefined)
    if (!isNeeded) this.entry?.forget(this)
  }
}
