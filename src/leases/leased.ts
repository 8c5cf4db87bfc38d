import type { ScriptExecutor } from '../scripts/executor'
import type { ObjectNames } from '../scripts/object-names'
import { type ScriptName, script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'

/** The object that is leased, and how its leases are renewed. */
export interface Leased extends ObjectNames {
  readonly renewal: Renewal
  /** Several owners may hold it together. */
  readonly shared?: boolean
}

/** A lease as its renewal needs it. */
export interface Renewable {
  readonly leased: Leased
  /** The hash field, or the token, that marks the holder in Redis. */
  readonly ownerField: string
}

/** How the leases of one kind are renewed: many in one call, with an answer for each. */
export interface Renewal {
  /**
   * Answers for each lease when it ends now, by the server's clock in ms; 0: it is gone. With `acknowledged`,
   * a replica must have the renewal before the answer counts.
   */
  renew(
    scripts: ScriptExecutor,
    leases: readonly Renewable[],
    duration: number,
    acknowledged: boolean,
  ): ScriptCall<readonly number[]>
}

/**
 * Renews leases by a script of this name. `keyOf` and `wordsOf`: what the script takes for each lease;
 * usually key and owner.
 */
export function renewalBy(
  name: ScriptName,
  keyOf = ({ leased }: Renewable) => leased.key,
  wordsOf = ({ ownerField }: Renewable): readonly string[] => [ownerField],
): Renewal {
  const renew = script(name, (raw) => raw as readonly number[])
  return {
    renew: (scripts, leases, duration, acknowledged) =>
      scripts.run(renew, leases.map(keyOf), [duration, ...leases.flatMap(wordsOf)], acknowledged),
  }
}
