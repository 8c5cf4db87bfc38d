import type { Client } from './client'

/**
 * The property by which a lock of this package identifies itself to a multi lock. An object without it is a
 * member, too, if it has `tryAcquire`: the multi lock orders it by its name, and only the same object counts
 * as the same lock.
 */
export const MEMBER: unique symbol = Symbol.for('rlock.member.v2')

export interface MemberIdentity {
  readonly name: string
  /** The place in the global order. It is the same in every process. */
  readonly key: string
  /** Distinguishes the locks of the client. */
  readonly objectId: string
  readonly client: Pick<Client, 'clientId' | 'lockWatchdogTimeout'> & {
    readonly scripts?: Pick<Client['scripts'], 'isServerAway'>
  }
  /** Undefined for a lock that is made of members itself. */
  readonly server: Client['connections']['identity'] | undefined
  /** The locks of which it is made, if it is made of members: the same lock twice would wait for itself. */
  readonly leaves?: readonly string[]
  /** Whether this process should yield the lock, or a member of it, to other processes first. */
  mustYield(): boolean
}
