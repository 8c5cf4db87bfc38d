import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import type { LockHold } from '../api/lock-hold'
import type { OwnedLevel } from '../ownership/owned-hold'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import type { Level } from './hold'
import { RELEASE_LEVEL } from './lock-internals'
import { releasedAlready } from './not-held'
import type { OwnedLock } from './owned-lock'

/** A LockHold: the right to release one level, once. It is made for its level. */
export abstract class Handle<L extends OwnedLevel> implements LockHold {
  /** Its caller released it. The release may be in flight. */
  private unlocked = false

  constructor(
    private readonly lock: OwnedLock<OwnedLevel, LockHold>,
    readonly level: L,
  ) {}

  abstract get threadId(): number
  abstract get owner(): string
  abstract get signal(): AbortSignal

  get isHeld(): boolean {
    return this.level.checkLive()
  }

  get lockName(): string {
    return this.lock.names.name
  }

  unlock(options?: ReleaseOptions): Promise<void> {
    const { lock, level } = this
    try {
      if (this.unlocked) {
        lock.client.assertNotClosed()
        throw releasedAlready(lock.client, this)
      }
      const { signal } = releaseOptions(options)
      this.unlocked = true
      return unlessAborted(lock[RELEASE_LEVEL](level), signal)
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

/**
 * The right to release one level of a plain hold. A kind of lock whose holds have more, a fencing token for
 * instance, extends this class.
 */
export class LockHandle extends Handle<Level> {
  get threadId(): number {
    return this.level.hold.threadId
  }

  get owner(): string {
    return this.level.hold.owner
  }

  get signal(): AbortSignal {
    const { hold } = this.level
    hold.checkLive()
    return hold.signal
  }
}
