import type { Clock } from '../util/clock'
import type { CohortPolicy } from './cohort'
import { countOvertaken } from './local-overtaking'
import type { WaitPolicy } from './wait-policy'
import type { AnyWaiter, GrantedReply } from './waiter'

/** The queue before something that is shared in equal parts, as far as passing parts on goes. */
interface PassingQueue {
  readonly lock: { readonly policy: WaitPolicy }
  readonly waiters: Iterable<AnyWaiter>
  readonly around: { readonly clock: Clock }
  /** How much is left on the server, by the last answer; below zero: there is no such thing. */
  readonly remainder: number | undefined
  readonly cohort: CohortPolicy
}

/**
 * Gives parts that are released here to the first waiters here, all of them or none, and asks the server nothing: the
 * number of parts that are free stays as it is. Returns whether it did. It does not where the next waiter needs more,
 * where a waiter before it may be granted parts on the server, and where other processes are to have a chance at them.
 */
export function passHere(queue: PassingQueue, parts: number): boolean {
  const takers = takersOf(queue, parts)
  if (!takers || !queue.cohort.handOff()) return false
  const reply: GrantedReply<undefined> = {
    value: { granted: true, grant: undefined },
    sent: queue.around.clock.now(),
    connectionBroke: false,
    lateCopyPossible: false,
    acknowledged: true,
  }
  for (const waiter of takers) {
    countOvertaken(queue, waiter)
    waiter.succeed(reply)
  }
  return true
}

function takersOf({ lock, waiters, remainder }: PassingQueue, parts: number): AnyWaiter[] | undefined {
  // Only an answer says whether there is such a thing at all.
  if (remainder === undefined || remainder < 0) return undefined
  const { overtaking = 0 } = lock.policy
  const takers: AnyWaiter[] = []
  for (const waiter of waiters) {
    const { needs = 1 } = waiter.attempt
    if (waiter.isAsking) {
      // What is left on the server suffices for this one. It is about to be granted, so that the next have these.
      if (needs > remainder || waiter.overtaken >= overtaking) return undefined
    } else {
      // One that needs more may be served by these and those on the server together.
      if (needs > parts || waiter.mayBeGranted) return undefined
      takers.push(waiter)
      parts -= needs
      if (parts === 0) return takers
    }
  }
  return undefined
}
