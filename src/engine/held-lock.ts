import type { Leased } from '../leases/lease'
import type { ScriptCall } from '../scripts/script-call'
import type { WaitTarget } from '../waiting/admission'

/** The answer to a release. */
export type ReleaseReply =
  /** This hold was not on the server: nothing was changed. */
  | { readonly result: 'not-held' }
  /** The count was reduced; `leaseEnd` is when the lease ends now, by the server's clock in ms. */
  | { readonly result: 'reduced'; readonly leaseEnd: number | undefined }
  /** The lease ends at another time than the client knew; nothing was changed. */
  | { readonly result: 'other-lease'; readonly leaseEnd: number }
  /**
   * The lock is free. `notified` is how many clients were notified; undefined: the server refused PUBLISH.
   */
  | { readonly result: 'freed'; readonly notified: number | undefined }

/** A lock as its holds need it. */
export interface HeldLock extends Leased, Pick<WaitTarget, 'subject' | 'takesTurns' | 'allLeft'> {
  /**
   * The owner field gives the right to release the lock. So it appears in no event, list, message or answer:
   * its SHA-1 does.
   */
  readonly ownerIsSecret?: boolean
  /** `count` 0 ends the hold. */
  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply>
}
