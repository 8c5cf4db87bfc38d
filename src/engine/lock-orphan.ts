import type { Client } from '../client/client'
import type { Orphan } from '../leases/orphan-releaser'
import type { LeasedLock } from './leased-lock'

/** The lock that an owner may still hold although no caller waits for it. */
export function lockOrphan(client: Client, lock: LeasedLock, owner: string, lease: number): Orphan {
  const release = async () => {
    const keep = client.recentReleases?.sending(lock.key)
    const call = lock.release(owner, 0, 0, 0)
    await client.queues.followRelease(lock, call.answer)
    // Also where the server had no hold: a replica of it may have one.
    keep?.(orphan)
  }
  const orphan = { lease, release }
  return orphan
}
