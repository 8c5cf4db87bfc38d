import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import type { LockHold } from '../api/lock-hold'
import { ADOPT } from '../client/member-identity'
import { ThreadCaller } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import type { Hold, Level } from './hold'
import { HoldLevel } from './level'
import type { LockScripts } from './lock-scripts'
import { releasedAlready } from './not-held'
import { leaveToLease, release } from './release'

/** What a level takes of the request that acquired it. */
export interface LevelRequest extends Pick<Level, 'branchPlace'> {
  readonly scripts: LockScripts
  readonly options: Pick<Level, 'leaseTime'>
  readonly caller: Pick<Level, 'thread'>
}

export const HAND_TO_WATCHDOG: unique symbol = Symbol('handToWatchdog')
export const LEAVE_TO_LEASE: unique symbol = Symbol('leaveToLease')

/**
 * A LockHold: the right to release one level, once. It is made with its level, and every caller gets this one object. A kind
 * of lock whose holds have more, a fencing token for instance, extends this class.
 */
export class AcquiredLockHold implements LockHold {
  /** Its caller released it. The release may be in flight. */
  private unlocked = false

  private readonly scripts: LockScripts
  readonly level: Level

  /** `granted`: when the command was sent that acquired the level. */
  constructor(
    request: LevelRequest,
    readonly hold: Hold,
    granted: Moment,
  ) {
    const { scripts, options, branchPlace, caller } = request
    this.scripts = scripts
    this.level = new HoldLevel(hold, options.leaseTime, granted, caller.thread, branchPlace)
    hold.levels.add(this.level)
  }

  get lockName(): string {
    return this.scripts.name
  }

  get threadId(): number {
    return this.hold.threadId
  }

  get owner(): string {
    return this.hold.owner
  }

  get signal(): AbortSignal {
    this.hold.checkLive()
    return this.hold.signal
  }

  get isHeld(): boolean {
    return this.hold.checkLive() && this.hold.levels.has(this.level)
  }

  unlock(options?: ReleaseOptions): Promise<void> {
    const { scripts, hold, level } = this
    try {
      if (this.unlocked) throw releasedAlready(hold.context, this)
      const { signal } = releaseOptions(options)
      hold.context.assertNotClosed()
      this.unlocked = true
      const released = release(scripts, level)
      return unlessAborted(released, signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** From now on the watchdog renews the hold, until its level is released. */
  [HAND_TO_WATCHDOG](): void {
    const { hold, level } = this
    if (!this.isHeld || hold.context.isClosed) return
    level.leaseTime = undefined
    hold.context.leases.renewNow(hold)
  }

  /** Ends the hold in this client. The server keeps the lock until the lease ends. */
  [LEAVE_TO_LEASE](): Promise<void> {
    this.unlocked = true
    return leaveToLease(this.hold, this.level)
  }

  /** From now on the thread finds this hold as its own. */
  [ADOPT](thread: LogicalThread): void {
    const { context, entry, leased } = this.hold
    if (entry) new ThreadCaller<Hold>(context, thread).adopt(entry, leased.objectId, leased.relatedIds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `LockHold(${quote(this.lockName)}, thread id ${this.threadId})`
  }

  toJSON(): object {
    return { lockName: this.lockName, threadId: this.threadId }
  }
}
