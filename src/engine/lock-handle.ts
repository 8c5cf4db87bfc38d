import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import type { LockHold } from '../api/lock-hold'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import type { Hold, Level } from './hold'
import type { LockKind } from './lock-kind'
import { releasedAlready } from './not-held'
import { release } from './release'

/**
 * A LockHold: the right to release one level, once. It is made for its level, and every caller gets this one
 * object. A kind of lock whose holds have more, a fencing token for instance, extends this class.
 */
export class LockHandle implements LockHold {
  /** Its caller released it. The release may be in flight. */
  private unlocked = false
  // A getter would be a member that its public type does not have.
  readonly hold: Hold

  constructor(
    private readonly kind: LockKind,
    readonly level: Level,
  ) {
    this.hold = level.hold
  }

  get lockName(): string {
    return this.kind.name
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
    const { kind, hold, level } = this
    try {
      if (this.unlocked) {
        hold.client.assertNotClosed()
        throw releasedAlready(hold.client, this)
      }
      const { signal } = releaseOptions(options)
      this.unlocked = true
      const released = release(kind, level)
      return unlessAborted(released, signal)
    } catch (error) {
      return Promise.reject(error)
    }
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
