import type { Client } from '../client/client'
import type { Leased } from '../leases/lease'
import type { Orphan } from '../leases/orphan-releaser'
import type { WaitTarget } from '../waiting/admission'

/** A lock as its holds need it. */
export interface HeldLock extends Leased, Pick<WaitTarget, 'takesTurns' | 'allLeft'> {
  /**
   * The owner field gives the right to release the lock. So it appears in no event, list, message or answer:
   * its SHA-1 does.
   */
  readonly ownerIsSecret?: boolean
  /** Other holds may keep the key, and the field of a hold in it, for longer than the lease of that hold. */
  readonly keyOutlivesLease?: boolean
  /** `count` 0 ends the hold. */
  release(
    owner: string,
    count: number,
    lease: number,
    leaseEnd: number,
  ): { readonly answer: Promise<{ readonly value: ReleaseAnswer }> }
}

/** The part of the answer to a release that all kinds of locks share. */
interface ReleaseAnswer {
  readonly result: string
  readonly notified?: number | undefined
}

/** The lock that an owner may still hold although no caller waits for it. */
export function lockOrphan(client: Client, lock: HeldLock, owner: string, lease: number): Orphan {
  const release = async () => {
    const server = client.recentReleases?.serverOf(lock.key)
    client.queues.releasing(lock)
    let isFreed = false
    try {
      const { value } = await lock.release(owner, 0, 0, 0).answer
      isFreed = value.result === 'freed'
      if (server !== undefined && isFreed) client.recentReleases!.answered(server, lock.key, orphan)
      if (isFreed) client.queues.freed(lock, value.notified)
      client.unpublishedReleases.released(lock, value)
    } finally {
      // If it is gone, the server notified no client, and local waiters may have read its TTL.
      if (!isFreed) client.queues.notReleased(lock)
    }
  }
  const orphan = { lease, release }
  return orphan
}
