import type { Clock } from '../util/clock'
import type { CohortPolicy } from './cohort'
import type { AnyWaiter, GrantedReply } from './waiter'

/** The grant of a part that was passed on here. */
export const PASSED: GrantedReply<undefined>['value'] = { granted: true, grant: undefined }

/** The queue before something that is shared in equal parts, as far as passing parts on goes. */
interface PassingQueue {
  readonly waiters: Iterable<AnyWaiter>
  readonly around: { readonly clock: Clock }
  /** How much is left on the server, by the last answer; below zero: there is no such thing. */
  readonly remainder: number | undefined
  readonly cohort: CohortPolicy
}

/**
 * Gives parts that are released here to the first waiters here, all of them or none, and asks the server nothing: the
 * number of parts that are free stays as it is. Returns whether it did. It does not where the next waiter needs more, and
 * where other processes are to have a chance at them. A waiter whose own try is in flight is overtaken until its answer
 * comes, and no longer than a cohort lasts.
 */
export function passHere(queue: PassingQueue, parts: number): boolean {
  const takers = takersOf(queue, parts)
  if (!takers || !queue.cohort.handOff()) return false
  const reply: GrantedReply<undefined> = {
    value: PASSED,
    sent: queue.around.clock.now(),
    connectionBroke: false,
    lateCopyPossible: false,
    acknowledged: true,
  }
  for (const waiter of takers) waiter.succeed(reply)
  return true
}

function takersOf({ waiters, remainder }: PassingQueue, parts: number): AnyWaiter[] | undefined {
  // Only an answer says whether there is such a thing at all.
  if (remainder === undefined || remainder < 0) return undefined
  const takers: AnyWaiter[] = []
  for (const waiter of waiters) {
    const { needs = 1 } = waiter.attempt
    // One that needs more may be served by these and those on the server together.
    if (needs > parts) return undefined
    // Its answer is on the way, and grants it others or makes it the first again. To wait for that leaves these unused.
    if (waiter.isAsking) continue
    if (waiter.mayBeGranted) return undefined
    takers.push(waiter)
    parts -= needs
    if (parts === 0) return takers
  }
  return undefined
}
