import type { Faults } from './faults'
import type { KeyChanged, Limits, Time } from './history'
import type { Hold } from './holds'

/**
 * What the server took from a Java client, which tells its threads nothing: such a hold ends where its key does, if something
 * explains that. A key that runs out while nothing keeps the renewals away, or that another client takes out, is no such end.
 */
export class JavaHolds {
  /** The owners of each key, as the server had them last. */
  private readonly owners = new Map<string, readonly string[]>()

  constructor(private readonly limits: Limits) {}

  /** The owners that the key does not have any more. */
  change({ name, server, owners }: KeyChanged): readonly string[] {
    const key = `${server} ${name}`
    const before = this.owners.get(key) ?? []
    this.owners.set(key, owners)
    return before.filter((owner) => !owners.includes(owner))
  }

  /** Whether the key is gone whose acquisition is answered now. */
  isGone({ keys, fields }: Pick<Hold, 'keys' | 'fields'>): boolean {
    return keys.some((name) => fields.some((field) => !this.owners.get(`undefined ${name}`)?.includes(field)))
  }

  /** Whether something took it away that Java does not see. */
  isTaken(
    hold: Hold,
    { from, at, hasExpired, faults }: { from: Time; at: Time; hasExpired: boolean; faults: Faults },
  ): boolean {
    const { watchdogTimeout, longestLease } = this.limits
    // A renewal that failed earlier than a lease ago was made up for by later ones.
    const since = Math.max(from, at - 2 * Math.max(watchdogTimeout, longestLease))
    return hold.keys.some((name) => {
      const touched = { client: hold.call.client, name }
      return (
        (hasExpired && faults.excuses('loss', touched, since, at)) ||
        faults.excuses('data', touched, from, at) ||
        faults.excuses('force', touched, from, at) ||
        faults.all.some((fault) => fault.rewinds && fault.at >= from && fault.at <= at)
      )
    })
  }
}
