import { inspect } from 'node:util'
import { type AcquireArguments, releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import type { LockHold } from '../api/lock-hold'
import { ADOPT } from '../client/member-identity'
import type { BranchPlace } from '../ownership/branch-place'
import { ThreadCaller } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import type { Caller, Hold, Level } from './hold'
import type { AnyLockScripts } from './lock-scripts'
import { leaveToLease, release } from './release'

/** What a level takes of the request that acquired it. */
export interface LevelRequest {
  readonly scripts: AnyLockScripts
  readonly options: AcquireArguments
  readonly caller: Caller
  /** Only its LockHold may release it. */
  readonly byToken: boolean
  readonly branchPlace: BranchPlace | undefined
}

export const LEAVE_TO_LEASE: unique symbol = Symbol('leaveToLease')

/**
 * A LockHold: the right to release one level, once. It is made with its level, and every caller gets this one object. A kind
 * of lock whose holds have more, a fencing token for instance, extends this class.
 */
export class AcquiredLockHold implements LockHold {
  /** Its caller released it. The release may be in flight. */
  private unlocked = false

  private readonly scripts: AnyLockScripts
  private readonly level: Level

  /** `granted`: when the command was sent that acquired the level. */
  constructor(
    { scripts, options, byToken, branchPlace, caller }: LevelRequest,
    readonly hold: Hold,
    granted: Moment,
  ) {
    this.scripts = scripts
    this.level = { leaseTime: options.leaseTime, granted, byToken, thread: caller.thread, branchPlace }
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
    if (this.unlocked) return Promise.reject(hold.releasedAlready())
    let signal: AbortSignal | undefined
    try {
      signal = releaseOptions(options).signal
      hold.context.assertNotClosed()
      this.unlocked = true
    } catch (error) {
      return Promise.reject(error)
    }
    return unlessAborted(
      release(scripts, hold, () => level),
      signal,
    )
  }

  /** Ends the hold in this client. The server keeps the lock until the lease ends. */
  [LEAVE_TO_LEASE](): Promise<void> {
    this.unlocked = true
    return leaveToLease(this.hold, this.level)
  }

  /** From now on the thread finds this hold as its own. */
  [ADOPT](thread: LogicalThread): void {
    new ThreadCaller(this.hold.context, thread).adopt(this.hold)
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
