import type { Renewal } from '../renewal/watchdog'
import type { ScriptCall } from '../scripts/script-runner'

/** What `release` and `forceRelease` answer. */
export const NOT_HELD = 0
export const STILL_HELD = 1
export const FREED = 2
/** Freed, but the server refused to tell the waiters. */
export const FREED_UNTOLD = 3

/** What `inspect` answers. */
export interface LockState {
  /** ms; -1 without expiry, -2 without key. */
  readonly timeToLive: number
  /** The hold count of the owner asked about. */
  readonly count: number
  /** The field of a holder, or the empty string. */
  readonly holder: string
}

/**
 * One kind of lock as it stands in Redis: names and scripts, nothing of waiting, timers or callers.
 * A new kind of lock is one of these and its lua files.
 */
export interface LockProtocol {
  /** The name as the user knows it. */
  readonly name: string
  /** The key. */
  readonly key: string
  /** Tells this lock (and side) from every other in the client. */
  readonly lockId: string
  readonly channel: string
  /** Several owners may hold it together. */
  readonly shared: boolean
  readonly renewal: Renewal
  ownerField(threadId: number): string
  /** null: acquired; else the remaining time to live in ms. */
  acquire(owner: string, lease: number): ScriptCall
  /** 1: the count is as wanted; 0: the hold is gone. */
  reenter(owner: string, lease: number, count: number): ScriptCall
  /** NOT_HELD, STILL_HELD, FREED or FREED_UNTOLD. */
  release(owner: string, count: number, lease: number): ScriptCall
  /** NOT_HELD, FREED or FREED_UNTOLD. */
  forceRelease(owner: string): ScriptCall
  inspect(owner: string): Promise<LockState>
}
