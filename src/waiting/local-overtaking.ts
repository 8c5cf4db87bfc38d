import type { WaitPolicy } from './wait-policy'
import type { AnyWaiter } from './waiter'

/** The waiters for something that is shared in parts, in order. */
interface Sharing {
  readonly lock: { readonly policy: WaitPolicy }
  readonly waiters: Iterable<AnyWaiter>
}

/** The waiter to ask for next, where so much is left: the first that needs no more, unless one before it lets none pass. */
export function firstThatFits({ lock, waiters }: Sharing, left: number | undefined): AnyWaiter | undefined {
  const { overtaking } = lock.policy
  if (overtaking === undefined || left === undefined) return undefined
  for (const waiter of waiters) {
    // What no replica acknowledged has been taken already.
    if ((waiter.attempt.needs ?? 1) <= left || waiter.unacknowledged > 0) return waiter
    if (waiter.overtaken >= overtaking) return undefined
  }
  return undefined
}

/** Whether the last to come wants no more than is left, and the waiters before it let it pass. */
export function mayPass(sharing: Sharing, last: AnyWaiter, left: number | undefined): boolean {
  if (left === undefined || (last.attempt.needs ?? 1) > left) return false
  return firstThatFits(sharing, left) === last
}

/** Whether one of the waiters has let so many others pass that now they wait behind it. */
export function letsNonePass({ lock, waiters }: Sharing): boolean {
  const { overtaking } = lock.policy
  if (overtaking === undefined) return false
  for (const { overtaken } of waiters) if (overtaken >= overtaking) return true
  return false
}

/** This waiter is granted before all that came earlier; without one, a caller that did not wait is. */
export function countOvertaken({ waiters }: Sharing, granted: AnyWaiter | undefined): void {
  for (const waiter of waiters) {
    if (waiter === granted) return
    waiter.overtaken++
  }
}
