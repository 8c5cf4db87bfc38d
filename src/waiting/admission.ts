import type { ObjectNames } from '../scripts/object-names'
import type { Reply } from '../scripts/reply'
import type { Attempt, Outcome } from './attempt'
import type { AnyWaiter } from './waiter'

/** The answer to a try. */
export type TryReply = Reply<Outcome<unknown>>

/** While no message can arrive, the first waiter rechecks after this long, in ms. */
const RECHECK_WITHOUT_SUBSCRIPTION = 1_000

/** The most tries that a queue sends together. */
export const MOST_TOGETHER = 250

/** The object for which a queue waits. The file of its primitive says all of this. */
export interface WaitTarget extends ObjectNames {
  /** For messages: `the lock "name"`. */
  readonly subject: string
  /** Whether the processes take turns (cohort.ts). An object without a limit of owners needs no turns. */
  readonly takesTurns: boolean
  /**
   * The message that says that all owners have left, where several may share the object and no message counts
   * them.
   */
  readonly allLeft?: string | undefined
  /**
   * For a read lock: the write side, whose hold excludes all other owners. Otherwise the object itself does.
   */
  readonly exclusiveLockId?: string | undefined
  /** How its waiters are admitted: called for each queue, so that the result may have a state. */
  admission(): Admission
}

/** A queue of its own for waiters of the same object. What `changed` does not name is as in `target`. */
export function queueBeside(target: WaitTarget, id: string, changed: Partial<WaitTarget> = {}): WaitTarget {
  return Object.assign(Object.create(target), { ...changed, objectId: `${id} ${target.objectId}` })
}

/** The waiters of one queue, first come, first served. One may be removed while the iteration is at it. */
export interface Waiters extends Iterable<AnyWaiter> {
  readonly first: AnyWaiter | undefined
}

/** What a queue does after the answer to its last try. */
export type Next =
  /** The next waiters try, after the code of those that have just entered. */
  | 'more may enter'
  /** It sleeps until a message comes, for so many ms at most. Infinity: the longest sleep of the client. */
  | { readonly sleepFor: number }

/**
 * How the waiters of one queue are admitted to their object: who tries next, and when. By these rules one
 * owner enters at a time: after a grant the next waiter waits for a release.
 */
export class Admission {
  /**
   * Several owners may enter together. So a single try does not wait for the round trips of the waiters
   * before it.
   */
  readonly shared: boolean = false

  /** A try was answered, and others wait. The answer may also grant some of them. */
  next({ value }: TryReply, { lease = Infinity }: Attempt<unknown>, _: Waiters): Next {
    return { sleepFor: value.granted ? lease : value.blockedFor }
  }

  /**
   * The waiters that try together, the first one first. More than one may try where the last answer said that
   * more may enter. The queue takes MOST_TOGETHER of them.
   */
  together({ first }: Waiters): Iterable<AnyWaiter> {
    return [first!]
  }

  /**
   * After how long the first waiter rechecks, in ms: it tries without a message. Infinity: the object does
   * not become free without a message.
   */
  recheckAfter(isConfirmed: boolean): number {
    return isConfirmed ? Number.POSITIVE_INFINITY : RECHECK_WITHOUT_SUBSCRIPTION
  }

  /** A message came, the subscription was confirmed or broke, or the object may be free. */
  heard(): void {}
}

/** Several owners may enter together, one after the other: after a grant the next waiter tries at once. */
export class Shared extends Admission {
  override readonly shared = true

  override next({ value }: TryReply, _a: Attempt<unknown>, _: Waiters): Next {
    return value.granted ? 'more may enter' : { sleepFor: value.blockedFor }
  }
}

const EXCLUSIVE = new Admission()
const SHARED = new Shared()

export const exclusive = (): Admission => EXCLUSIVE
export const shared = (): Admission => SHARED
