import type { Caller } from '../ownership/callers'
import type { Renewal } from '../renewal/renewal'
import type { ScriptCall } from '../scripts/script-runner'

/** What `release` and `forceRelease` answer. */
export const NOT_HELD = 0
export const STILL_HELD = 1
export const FREED = 2
/** Held by a lease other than the client knew; nothing was changed. */
export const OTHER_LEASE = 4
/** Freed, but the server refused to tell the waiters. */
export const FREED_UNTOLD = 3

/** How many clients a release told; undefined: the server refused to. */
export function clientsTold(answer: unknown): number | undefined {
  if (answer === FREED_UNTOLD) return undefined
  return Array.isArray(answer) ? Number(answer[1]) : 0
}

/** What `inspect` answers. */
export interface LockState {
  /** ms; -1 without expiry, -2 without key. */
  readonly timeToLive: number
  /** The hold count of the owner asked about. */
  readonly count: number
  /** The fields of the holders. */
  readonly holders: readonly string[]
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
  /** The locks whose waiters may enter when this one is freed: itself, and the other side of a read-write lock. */
  readonly lockIds: readonly string[]
  /** After a partial release each level's lease runs on; without it the key gets the lease of those left anew. */
  readonly leasesRunOn: boolean
  readonly renewal: Renewal
  /** The field of what this caller holds beside, where that lets it in; throws where it can never get in. */
  beside?(caller: Caller, willWait: boolean): string | undefined
  ownerField(threadId: number): string
  /** null: acquired; else the remaining time to live in ms. */
  acquire(owner: string, lease: number, beside: string | undefined): ScriptCall
  /**
   * null: `taker` holds the lock in place of `giver`; NOT_HELD: `giver` did not hold it. Absent where a lock is never
   * handed over.
   */
  handOver?(giver: string, taker: string, lease: number): ScriptCall
  /**
   * When the lease ends now, by the server's clock; 0: the hold is gone. `releasedEnd` is the end that the last
   * partial release of this hold had seen, or 0.
   */
  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall
  /**
   * With a count of 0: NOT_HELD, FREED, [FREED, how many were told], FREED_UNTOLD or, where others hold it too,
   * STILL_HELD. Else NOT_HELD or
   * [STILL_HELD or OTHER_LEASE, when the lease ends now]; `leaseEnd` is what the client last saw of that.
   */
  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall
  /** NOT_HELD, FREED or FREED_UNTOLD. */
  forceRelease(owners: readonly string[]): ScriptCall
  inspect(owner: string): Promise<LockState>
}
