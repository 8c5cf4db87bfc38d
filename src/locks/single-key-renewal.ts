import type { Renewal } from '../leases/lease'
import type { Script } from '../scripts/script'

/** Renews locks of one key each, whose lease is that of the key, many in one call. */
export function renewalBy(renew: Script<readonly number[]>): Renewal {
  return {
    tracksKeys: true,
    renew: (scripts, leases, duration, acknowledged) =>
      scripts.run(
        renew,
        leases.map(({ key }) => key),
        [duration, ...leases.map(({ ownerField }) => ownerField)],
        acknowledged,
      ),
  }
}
