import type { Faults } from './faults'
import type { Called, KeyChanged, Limits, SimulatedObject, Time } from './history'

/** What excludes what: the sides of a read-write lock, permits, everything else. */
export type Side = 'exclusive' | 'read' | 'write' | 'permits'

/** `taken`: the server took it from a Java client, which tells its threads nothing. */
export type Ending = 'released' | 'told' | 'killed' | 'taken'

/** A caller inside, from the answer to its acquisition until it knows that it is not inside any more. */
export interface Hold {
  /** The call that acquired it. */
  readonly id: number
  readonly call: Called
  readonly owner: string
  /** What it excludes others from: its own name, or the names of its members. */
  readonly keys: readonly string[]
  readonly side: Side
  readonly units: number
  readonly token: number | undefined
  /** The owner as Redis has it, or ids of permits. */
  readonly fields: readonly string[]
  /** Positions in the history. */
  readonly calledAt: number
  readonly enteredAt: number
  /** Grows with a re-entry. */
  levels: number
  /** Where it stopped to be inside: its release was called, it was told or taken, or its client was killed. */
  leftAt: number | undefined
  ending: Ending | undefined
  /** Where its last release was answered. */
  releasedAt: number | undefined
  /** Where its client was suspended first while it was inside. */
  suspendedAt: number | undefined
  /** Where it was told, also after its release was called. */
  toldAt: number | undefined
}

/** Java was answered when its key was gone again. */
export const neverInside = ({ ending, leftAt, enteredAt }: Hold): boolean =>
  ending === 'taken' && leftAt === enteredAt

export const ownerOf = ({ client, caller }: Pick<Called, 'client' | 'caller'>): string =>
  `${client}/${caller}`

export function sideOf({ kind }: SimulatedObject): Side {
  if (kind === 'read' || kind === 'write') return kind
  return kind === 'semaphore' || kind === 'permits' ? 'permits' : 'exclusive'
}

/** Each level of a red lock has a time of its own, after which it is lost; those of other locks are one hold. */
export const endsByLevel = ({ kind, members = [] }: SimulatedObject): boolean =>
  kind === 'red' || members.some((member) => member.kind === 'red')

/** The names on which a hold of this object excludes others. The members of a red lock are one name together. */
export function keysOf(object: SimulatedObject): readonly string[] {
  if (object.kind === 'multi') return (object.members ?? []).flatMap(keysOf)
  return [object.name]
}

/** The sides of the names of an object: a multi lock may have sides of read-write locks as members. */
export function sidesOf(object: SimulatedObject): readonly (readonly [key: string, side: Side])[] {
  if (object.kind === 'multi') return (object.members ?? []).flatMap(sidesOf)
  return [[object.name, sideOf(object)]]
}

/** Two owners that must not be inside together. */
export function excludes(first: Hold, second: Hold, key: string): boolean {
  if (first.owner === second.owner) return false
  const [one, other] = [sideOn(first, key), sideOn(second, key)]
  if (one === 'permits' || other === 'permits') return false
  return !(one === 'read' && other === 'read')
}

export function sideOn(hold: Hold, key: string): Side {
  return sidesOf(hold.call.object).find(([name]) => name === key)?.[1] ?? hold.side
}

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
