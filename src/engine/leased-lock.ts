import type { Leased } from '../leases/leased'
import type { ScriptCall } from '../scripts/script-call'
import type { WaitTarget } from '../waiting/admission'
import type { ReleaseReply } from './release-reply'

/** The answer to `inspect`. */
export interface LockState {
  /** In ms; -1 without expiry, -2 without key. */
  readonly timeToLive: number
  /** The hold count of the owner that was asked for. */
  readonly count: number
  /** The owner fields. */
  readonly holders: readonly string[]
}

/** A lock as its holds need it. */
export interface LeasedLock extends Leased, Pick<WaitTarget, 'subject' | 'takesTurns' | 'allLeft'> {
  /** Other holds may keep the key for longer than the lease of one of them lasts. */
  readonly keyOutlivesLease?: boolean
  /**
   * The owner field gives the right to release the lock. So it appears in no event, list, message or answer:
   * its SHA-1 does.
   */
  readonly ownerIsSecret?: boolean
  /** Sets the count; 0 ends the hold. `leaseEnd` is when the client last saw that the lease would end. */
  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply>
  inspect(owner: string): ScriptCall<LockState>
}
