import { describe } from '../api/arguments'
import type { Lockable } from '../api/lockable'
import type { Client } from '../client/client'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import { perObject } from '../util/per-object'
import { quote } from '../util/quote'

/** One lock of a multi lock or a RedLock. A lock of another library has no identity but its name. */
export interface Member extends Partial<MemberIdentity> {
  readonly lock: Lockable
  readonly name: string
  readonly key: string
  /** Two objects of one lock of one client have the same id. */
  readonly id: string
}

/** The data that all acquisitions of one multi lock or RedLock share. */
export interface MemberGroup {
  /** For messages. */
  readonly name: string
  /** The client that made the lock; the members may belong to others. */
  readonly client: Client
  /** In the global order. */
  readonly members: readonly Member[]
  /** How many members must be held. */
  readonly needed: number
  /** How many members need not be held. */
  readonly spare: number
}

let foreignLocks = 0
const foreign = perObject((_: object) => ({ id: `foreign ${foreignLocks++}` }))

/**
 * The members, in the order of the arguments. Throws TypeError or RangeError for locks that cannot be held
 * together.
 */
export function membersOf(locks: readonly unknown[], what: string): Member[] {
  if (locks.length === 0) throw new RangeError(`a ${what} needs at least one lock`)
  const members = locks.map((lock) => memberOf(lock, what))
  const seen = new Set<string>()
  for (const member of members)
    for (const leaf of leavesOf(member)) {
      if (seen.has(leaf))
        throw new RangeError(
          `A ${what} got the lock ${quote(member.name)} twice, or a lock within it. Give each member ` +
            'another key, another database or another server.',
        )
      seen.add(leaf)
    }
  return members
}

/** Each lock of its own, also where members are made of members. */
export function leavesOf({ leaves, server, key, id }: Member): readonly string[] {
  return leaves ?? [server ? `${server.id}/${server.db} ${key}` : id]
}

function memberOf(lock: unknown, what: string): Member {
  // A semaphore has a `tryAcquire`, too, but no owner.
  if (!isLock(lock) || 'availablePermits' in lock)
    throw new TypeError(
      `a ${what} takes locks, as getLock() returns them, and no semaphores; got ${describe(lock)}`,
    )
  const { [MEMBER]: identity, getName } = lock as { [MEMBER]?: MemberIdentity; getName?: () => string }
  const name = identity?.name ?? String(typeof getName === 'function' ? getName.call(lock) : lock)
  const id = identity ? `${identity.client.clientId} ${identity.objectId}` : foreign(lock).id
  return { key: name, ...identity, lock, name, id }
}

function isLock(lock: unknown): lock is Lockable {
  return typeof lock === 'object' && typeof (lock as Lockable | null)?.tryAcquire === 'function'
}
