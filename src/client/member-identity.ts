import type { Context } from './context'

/**
 * The property by which a lock of this package identifies itself to a multi lock. An object without it is a member, too, if
 * it has `tryAcquire`: the multi lock orders it by its name, and only the same object counts as the same lock.
 */
export const MEMBER: unique symbol = Symbol.for('rlock.member.v1')

export interface MemberIdentity {
  readonly name: string
  readonly key: string
  readonly lockId: string
  readonly context: Pick<Context, 'lockWatchdogTimeout' | 'server'>
}

/** The property that says whether this process should yield the lock, or a member of it, to other processes first. */
export const MUST_YIELD: unique symbol = Symbol.for('rlock.must-yield.v1')
