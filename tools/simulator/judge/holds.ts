import type { Called, SimulatedObject } from './history'

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
