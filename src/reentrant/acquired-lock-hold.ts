import { inspect } from 'node:util'
import { type ReleaseOptions, releaseOptions } from '../api/arguments'
import { IllegalMonitorStateError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import { ThreadCaller } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import type { Hold, Level } from './hold'
import type { AnyLockScripts } from './lock-scripts'
import { leaveToLease, release } from './release'

/** A LockHold: the right to release one level, once. `Grant` is the payload of a grant, a fencing token for instance. */
export class AcquiredLockHold<Grant = unknown> implements LockHold {
  private unlocked = false

  constructor(
    private readonly scripts: AnyLockScripts,
    readonly hold: Hold,
    readonly level: Level,
  ) {}

  get lockName(): string {
    return this.scripts.name
  }

  get threadId(): number {
    return this.hold.threadId
  }

  get owner(): string {
    return this.hold.owner
  }

  /** The payload of its owner's newest grant. */
  get grant(): Grant {
    // A hold table keeps holds of all kinds of locks, so their type does not say which payload they have. Each acquisition of
    // a kind with a payload sets it.
    return this.hold.grant as Grant
  }

  get signal(): AbortSignal {
    this.hold.checkLive()
    return this.hold.signal
  }

  get isHeld(): boolean {
    return this.hold.checkLive() && this.hold.levels.includes(this.level)
  }

  unlock(options?: ReleaseOptions): Promise<void> {
    const { scripts, hold, level } = this
    if (this.unlocked) return Promise.reject(this.unlockedAlready())
    let signal: AbortSignal | undefined
    try {
      signal = releaseOptions(options).signal
      this.unlocked = true
      hold.context.assertNotClosed()
    } catch (error) {
      return Promise.reject(error)
    }
    return unlessAborted(
      release(scripts, hold, () => level),
      signal,
    )
  }

  /** Ends the hold in this client. The server keeps the lock until the lease ends. */
  leaveToLease(): Promise<void> {
    this.unlocked = true
    return leaveToLease(this.hold, this.level)
  }

  /** From now on the thread finds this hold as its own. */
  adoptBy(thread: LogicalThread): void {
    new ThreadCaller(this.hold.context, thread).adopt(this.hold)
  }

  private unlockedAlready(): IllegalMonitorStateError {
    return new IllegalMonitorStateError(
      `This hold on the lock ${quote(this.lockName)} was released already ` +
        `(client ${this.hold.context.clientId}, thread id ${this.threadId}). Release a hold once.`,
    )
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
