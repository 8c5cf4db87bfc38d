import type { Leased } from '../leases/leased'
import type { ScriptCall } from '../scripts/script-call'
import type { WaitTarget } from '../waiting/admission'
import type { ReleaseReply } from './release-reply'

/** A lock as its holds need it. */
export interface LeasedLock extends Leased, Pick<WaitTarget, 'subject' | 'takesTurns' | 'allLeft'> {
  /**
   * The owner field gives the right to release the lock. So it appears in no event, list, message or answer:
   * its SHA-1 does.
   */
  readonly ownerIsSecret?: boolean
  /** `count` 0 ends the hold. */
  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply>
}
