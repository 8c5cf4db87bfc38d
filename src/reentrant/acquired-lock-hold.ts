import { inspect } from 'node:util'
import { type ReleaseOptions, releaseOptions } from '../api/arguments'
import { IllegalMonitorStateError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { Context } from '../client/context'
import { ThreadCaller } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import type { Hold, Level } from './hold'
import type { AnyLockScripts } from './lock-scripts'
import { leaveToLease, release } from './release'

/** A LockHold: the right to release one level, once. `Grant` is what the grants of this kind of lock bring along. */
export class AcquiredLockHold<Grant = unknown> implements LockHold {
  private unlocked = false

  constructor(
    private readonly context: Context,
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

  /** What the newest grant of its owner brought along. */
  get grant(): Grant {
    // Hold tables keep holds of all kinds of locks; a kind finds those that it has granted.
    return this.hold.grant as Grant
  }

  get signal(): AbortSignal {
    this.look()
    return this.hold.signal
  }

  get isHeld(): boolean {
    return this.look() && this.hold.levels.includes(this.level)
  }

  unlock(options?: ReleaseOptions): Promise<void> {
    const { context, scripts, hold, level } = this
    if (this.unlocked) return Promise.reject(this.unlockedAlready())
    let signal: AbortSignal | undefined
    try {
      signal = releaseOptions(options)
      this.unlocked = true
      context.assertNotClosed()
    } catch (error) {
      return Promise.reject(error)
    }
    return unlessAborted(
      release(context, scripts, hold, () => level),
      signal,
    )
  }

  /** Ends here, and leaves the lock to its lease on the server. */
  leaveToLease(): Promise<void> {
    this.unlocked = true
    return leaveToLease(this.context, this.hold, this.level)
  }

  /** The thread finds this hold as its own. */
  adoptBy(thread: LogicalThread): void {
    new ThreadCaller(this.context, thread).adopt(this.hold)
  }

  private unlockedAlready(): IllegalMonitorStateError {
    return new IllegalMonitorStateError(
      `This hold on the lock ${quote(this.lockName)} was released already ` +
        `(client ${this.context.clientId}, thread id ${this.threadId}).`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  // Logged, it must not show the client inside with its credentials.
  [inspect.custom](): string {
    return `LockHold(${quote(this.lockName)}, thread id ${this.threadId})`
  }

  toJSON(): object {
    return { lockName: this.lockName, threadId: this.threadId }
  }

  private look() {
    return this.hold.checkLive()
  }
}
