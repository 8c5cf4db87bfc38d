import type { Context } from './context'

/**
 * Where a lock tells a multi lock what it needs of its members. Anything else with `tryAcquire` is a member, too: it is
 * ordered by its name, and only the same object counts as the same lock.
 */
export const MEMBER: unique symbol = Symbol.for('rlock.member.v1')

export interface MemberIdentity {
  readonly name: string
  readonly key: string
  readonly lockId: string
  readonly context: Pick<Context, 'lockWatchdogTimeout' | 'server'>
}

/** Where a lock tells whether other processes are to have it, or one of its members, before this one takes it again. */
export const MUST_YIELD: unique symbol = Symbol.for('rlock.must-yield.v1')
