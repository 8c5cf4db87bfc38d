import type { Client } from '../client/client'
import type { Leased } from '../leases/lease'
import type { Orphan } from '../leases/orphan-releaser'
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
  /** Other holds may keep the key, and the field of a hold in it, for longer than the lease of that hold. */
  readonly keyOutlivesLease?: boolean
  /** `count` 0 ends the hold. */
  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply>
}

/** The lock that an owner may still hold although no caller waits for it. */
export function lockOrphan(client: Client, lock: HeldLock, owner: string, lease: number): Orphan {
  const release = async () => {
    const server = client.recentReleases?.serverOf(lock.key)
    const call = lock.release(owner, 0, 0, 0)
    const { value } = await client.queues.follow(lock, call.answer)
    if (server !== undefined && value.result === 'freed')
      client.recentReleases!.answered(server, lock.key, orphan)
  }
  const orphan = { lease, release }
  return orphan
}
