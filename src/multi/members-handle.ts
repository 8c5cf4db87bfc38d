import { inspect } from 'node:util'
import { releaseOptions } from '../api/arguments'
import type { ReleaseOptions } from '../api/call-options'
import type { LockHold } from '../api/lock-hold'
import { releasedAlready } from '../engine/not-held'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import type { MembersLevel } from './members-hold'

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

/** The right to release one level, once. */
export class MembersHandle implements MultiLockHold {
  private unlocked = false

  constructor(readonly level: MembersLevel) {}

  get lockName(): string {
    return this.level.members.group.name
  }

  get threadId(): number {
    return this.level.threadId
  }

  get holds(): readonly LockHold[] {
    return this.level.members.grants.map(({ hold }) => hold)
  }

  get owner(): string {
    return this.holds.map(({ owner }) => owner).join(' ')
  }

  get isHeld(): boolean {
    return this.level.isHeld
  }

  get signal(): AbortSignal {
    return this.level.signal
  }

  async unlock(options?: ReleaseOptions): Promise<void> {
    const { signal } = releaseOptions(options)
    if (this.unlocked) throw releasedAlready(this.level.members.group.client, this)
    this.unlocked = true
    await unlessAborted(this.level.release(), signal)
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
