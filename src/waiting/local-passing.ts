import type { CohortPolicy } from './cohort'
import { type AnyWaiter, unasked, type WaitersOfLock } from './waiter'

/** The part of a queue that passing permits on needs. */
interface PassingQueue extends WaitersOfLock {
  /** How many permits are left on the server, by the last answer. Below zero: the semaphore does not exist. */
  readonly remainder: number | undefined
  readonly cohort: CohortPolicy
}

/**
 * Gives released permits to the first waiters of this client: all of the permits, or none. Returns whether it did. Nothing is
 * sent to the server, because its number of free permits stays the same. The permits are not passed on if the next waiter
 * needs more, or if other processes must have a chance first. A waiter whose own try is in flight is overtaken until the
 * answer comes, and no longer than a cohort lasts.
 */
export function passPermits(queue: PassingQueue, permits: number): boolean {
  const takers = takersOf(queue, permits)
  if (!takers || !queue.cohort.handOff()) return false
  const reply = unasked(queue.environment.clock)
  for (const waiter of takers) waiter.succeed(reply)
  return true
}

function takersOf({ waiters, remainder }: PassingQueue, permits: number): AnyWaiter[] | undefined {
  // Only an answer says whether the semaphore exists.
  if (remainder === undefined || remainder < 0) return undefined
  const takers: AnyWaiter[] = []
  for (const waiter of waiters) {
    const { needs = 1 } = waiter.attempt
    // A waiter that needs more may get these permits and permits of the server together.
    if (needs > permits) return undefined
    // A try of this waiter is in flight. If it is granted, the waiter gets other permits; if not, it is first again. These
    // permits go to the next waiter, so that they are not idle.
    if (waiter.isTrying) continue
    if (waiter.mayBeGranted) return undefined
    takers.push(waiter)
    permits -= needs
    if (permits === 0) return takers
  }
  return undefined
}
