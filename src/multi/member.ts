import { describe } from '../api/arguments'
import type { Lockable } from '../api/lockable'
import { MEMBER, type MemberIdentity, MUST_YIELD } from '../client/member-identity'
import type { Clock } from '../util/clock'
import { quote } from '../util/quote'

/** One lock of a multi lock or a RedLock. */
export interface Member {
  readonly lock: Lockable
  readonly name: string
  readonly identity: MemberIdentity | undefined
}

/** The data that all acquisitions of one multi lock share. */
export interface Union {
  readonly name: string
  /** The client that made the lock; the members may belong to others. */
  readonly clientId: string
  readonly clock: Clock
  /** How many members must be held. */
  readonly needed: number
  /** How many members there are. */
  readonly of: number
}

/** The members, in the order of the arguments. Throws TypeError or RangeError for locks that cannot be held together. */
export function membersOf(locks: readonly unknown[], what: string): Member[] {
  if (locks.length === 0) throw new RangeError(`a ${what} needs at least one lock`)
  const members = locks.map((lock) => memberOf(lock, what))
  const seen = new Set<unknown>()
  for (const member of members) {
    const { lock, identity, name } = member
    const same = identity ? `${identity.context.server.id} ${identity.key}` : lock
    if (seen.has(same))
      throw new RangeError(
        `A ${what} got the lock ${quote(name)} twice. Give each member another key or another server.`,
      )
    seen.add(same)
  }
  return members
}

/** The members in the order in which every process acquires them. */
export function inGlobalOrder(members: readonly Member[]): Member[] {
  return [...members].sort((a, b) => compare(placeOf(a), placeOf(b)))
}

/** A member that this client should yield to other processes, if there is one. */
export function toYield(members: readonly Member[]): Member | undefined {
  return members.find(({ lock }) => (lock as { readonly [MUST_YIELD]?: boolean })[MUST_YIELD])
}

function memberOf(lock: unknown, what: string): Member {
  if (typeof lock !== 'object' || lock === null || !('tryAcquire' in lock) || !isFunction(lock.tryAcquire))
    throw new TypeError(`a ${what} takes locks, as getLock() returns them; got ${describe(lock)}`)
  const { [MEMBER]: identity, getName } = lock as { [MEMBER]?: MemberIdentity; getName?: () => string }
  const name = identity?.name ?? (isFunction(getName) ? String(getName.call(lock)) : String(lock))
  return { lock: lock as Lockable, name, identity }
}

function isFunction(value: unknown): value is (...args: never) => unknown {
  return typeof value === 'function'
}

/** The key comes first, because two processes may know one server by two addresses. */
function placeOf({ name, identity }: Member): readonly string[] {
  return identity ? [identity.key, identity.context.server.address] : [name]
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? ''
    if (part !== other) return part < other ? -1 : 1
  }
  return a.length - b.length
}
