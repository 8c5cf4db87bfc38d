import type { LockHold } from '../api/lock-hold'
import { Handle } from '../engine/lock-handle'
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

/** The right to release one level over members. */
export class MembersHandle extends Handle<MembersLevel> implements MultiLockHold {
  get threadId(): number {
    return this.level.threadId
  }

  get holds(): readonly LockHold[] {
    return this.level.members.grants.map(({ hold }) => hold)
  }

  get owner(): string {
    return this.holds.map(({ owner }) => owner).join(' ')
  }

  get signal(): AbortSignal {
    const { level } = this
    if (level.checkLive()) level.watch()
    return level.signal
  }
}
