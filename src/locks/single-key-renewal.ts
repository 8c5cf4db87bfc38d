import type { Renewal } from '../leases/lease'
import type { Script } from '../scripts/script'

/** The renewal of locks that are one key each: the lease of the lock is the TTL of the key. */
export function renewalBy(renew: Script<readonly number[]>): Renewal {
  return {
    renew: (scripts, leases, duration, acknowledged) =>
      scripts.run(
        renew,
        leases.map(({ leased }) => leased.key),
        [duration, ...leases.map(({ ownerField }) => ownerField)],
        acknowledged,
      ),
  }
}
