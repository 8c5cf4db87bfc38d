import type { Clock } from '../util/clock'
import type { CohortPolicy } from './cohort'
import type { AnyWaiter, GrantedReply } from './waiter'

/** What passing permits on needs to know of the queue. */
interface PassingQueue {
  readonly waiters: Iterable<AnyWaiter>
  readonly around: { readonly clock: Clock }
  /** How many permits are left on the server by the last answer; below zero: the semaphore does not exist. */
  readonly remainder: number | undefined
  readonly cohort: CohortPolicy
}

/**
 * Gives released permits to the first waiters of this client, all of them or none. The server is not asked, because its
 * number of free permits stays the same. Returns whether it did. It does not if the next waiter needs more, or if other
 * processes must have a chance first. A waiter whose own try is in flight is overtaken until its answer comes, and no longer
 * than a cohort lasts.
 */
export function passHere(queue: PassingQueue, permits: number): boolean {
  const takers = takersOf(queue, permits)
  if (!takers || !queue.cohort.handOff()) return false
  const reply: GrantedReply<undefined> = {
    value: { granted: true, grant: undefined },
    sent: queue.around.clock.now(),
    connectionBroke: false,
    lateCopyPossible: false,
    acknowledged: true,
  }
  for (const waiter of takers) waiter.succeed(reply)
  return true
}

function takersOf({ waiters, remainder }: PassingQueue, permits: number): AnyWaiter[] | undefined {
  // Only an answer says whether the semaphore exists.
  if (remainder === undefined || remainder < 0) return undefined
  const takers: AnyWaiter[] = []
  for (const waiter of waiters) {
    const { needs = 1 } = waiter.attempt
    // A waiter that needs more may be served by these permits and those on the server together.
    if (needs > permits) return undefined
    // Its answer is on the way. The answer grants it other permits, or it is the first again. Meanwhile these would be idle.
    if (waiter.isAsking) continue
    if (waiter.mayBeGranted) return undefined
    takers.push(waiter)
    permits -= needs
    if (permits === 0) return takers
  }
  return undefined
}
