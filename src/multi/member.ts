import { describe } from '../api/arguments'
import type { Lockable } from '../api/lockable'
import type { Context } from '../client/context'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import { perObject } from '../util/per-object'
import { quote } from '../util/quote'

/** One lock of a multi lock or a RedLock. */
export interface Member {
  readonly lock: Lockable
  readonly name: string
  readonly identity: MemberIdentity | undefined
  /** Two objects of one lock of one client have the same id. */
  readonly id: string
}

/** The data that all acquisitions of one multi lock or RedLock share. */
export interface MemberGroup {
  /** For messages. */
  readonly name: string
  readonly objectId: string
  /** The client that made the lock; the members may belong to others. */
  readonly context: Context
  /** In the global order. */
  readonly members: readonly Member[]
  /** How many members must be held. */
  readonly needed: number
}

let foreignLocks = 0
const foreign = perObject((_: object) => ({ id: `foreign ${foreignLocks++}` }))

/** The members, in the order of the arguments. Throws TypeError or RangeError for locks that cannot be held together. */
export function membersOf(locks: readonly unknown[], what: string): Member[] {
  if (locks.length === 0) throw new RangeError(`a ${what} needs at least one lock`)
  const members = locks.map((lock) => memberOf(lock, what))
  const seen = new Set<string>()
  for (const member of members)
    for (const leaf of leavesOf(member)) {
      if (seen.has(leaf))
        throw new RangeError(
          `A ${what} got the lock ${quote(member.name)} twice, or a lock within it. Give each member another key, another ` +
            'database or another server.',
        )
      seen.add(leaf)
    }
  return members
}

/** Each lock of its own, also where members are made of members. */
export function leavesOf({ identity, id }: Member): readonly string[] {
  const server = identity?.server
  return identity?.leaves ?? [server ? `${server.id}/${server.db} ${identity.key}` : id]
}

function memberOf(lock: unknown, what: string): Member {
  if (!isLock(lock))
    throw new TypeError(`a ${what} takes locks, as getLock() returns them; got ${describe(lock)}`)
  if ('availablePermits' in lock)
    throw new TypeError(
      `a ${what} takes locks, as getLock() returns them; got a semaphore, which has no owner`,
    )
  const { [MEMBER]: identity, getName } = lock as { [MEMBER]?: MemberIdentity; getName?: () => string }
  const name = identity?.name ?? (isFunction(getName) ? String(getName.call(lock)) : String(lock))
  const id = identity ? `${identity.client.clientId} ${identity.objectId}` : foreign(lock).id
  return { lock, name, identity, id }
}

function isLock(lock: unknown): lock is Lockable {
  return typeof lock === 'object' && lock !== null && 'tryAcquire' in lock && isFunction(lock.tryAcquire)
}

function isFunction(value: unknown): value is (...args: never) => unknown {
  return typeof value === 'function'
}
