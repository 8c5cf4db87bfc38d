import type { AnyWaiter, WaitersOfLock } from './waiter'

/** The first waiter that needs at most `left` permits. Undefined if a waiter before it was overtaken as often as allowed. */
export function firstThatFits(
  { lock, waiters }: WaitersOfLock,
  left: number | undefined,
): AnyWaiter | undefined {
  const { overtaking } = lock.policy
  if (overtaking === undefined || left === undefined) return undefined
  for (const waiter of waiters) {
    // The permits of an unacknowledged grant are taken already, so they are not among those that are left.
    if ((waiter.attempt.needs ?? 1) <= left || waiter.unacknowledged > 0) return waiter
    if (waiter.overtaken >= overtaking) return undefined
  }
  return undefined
}

/** Whether a waiter that left has blocked a smaller request, which the free permits suffice for. */
export function heldUpASmallerRequest(
  queue: WaitersOfLock,
  { overtaken }: AnyWaiter,
  left: number | undefined,
): boolean {
  const { overtaking } = queue.lock.policy
  return overtaking !== undefined && overtaken >= overtaking && firstThatFits(queue, left) !== undefined
}

/** Whether the newest waiter needs at most `left` permits, and may overtake all waiters before it. */
export function mayOvertakeAll(queue: WaitersOfLock, last: AnyWaiter, left: number | undefined): boolean {
  if (left === undefined || (last.attempt.needs ?? 1) > left) return false
  return firstThatFits(queue, left) === last
}

/** Whether a waiter was overtaken as often as allowed, so that all others wait behind it. */
export function letsNoneOvertake({ lock, waiters }: WaitersOfLock): boolean {
  const { overtaking } = lock.policy
  if (overtaking === undefined) return false
  for (const { overtaken } of waiters) if (overtaken >= overtaking) return true
  return false
}

/**
 * Counts one overtaking for each waiter before `granted`. Without `granted`, counts it for all waiters: a caller was granted
 * that never queued.
 */
export function countOvertaken({ waiters }: WaitersOfLock, granted: AnyWaiter | undefined): void {
  for (const waiter of waiters) {
    if (waiter === granted) return
    waiter.overtaken++
  }
}
