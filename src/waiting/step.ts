import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/errors'
import type { AnyScriptCall } from '../scripts/script-call'
import type { Clock } from '../util/clock'
import type { AnyWaiter } from './waiter'

const RETRY_AFTER_TRANSIENT_ERROR = 200

/** How often a client asks for an acquisition, in all, while no replica acknowledges it. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/**
 * How a queue goes on after an attempt. `remaining`: ms until the lock may be free without a message; -1: it has no
 * expiry.
 */
export type Step =
  | { readonly kind: 'left' }
  | {
      readonly kind: 'acquired' | 'blocked'
      readonly remaining: number
      /** How much is left for others, where the answer said. */
      readonly left?: number | undefined
    }

export const LEFT: Step = { kind: 'left' }

/** The queue, as far as failures go. */
interface Queue {
  readonly waiters: Iterable<AnyWaiter>
  readonly around: { readonly clock: Clock; readonly unavailableAfter: number }
}

/**
 * It was granted, but no replica has it. To ask again is idempotent, and writes again, so that the next WAIT has a
 * write.
 */
export function stepWithoutReplica(waiter: AnyWaiter): Step {
  waiter.endAttempt(true)
  const tries = ++waiter.unacknowledged
  if (tries < TRIES_FOR_ACKNOWLEDGEMENT && !waiter.lastTry) return { kind: 'blocked', remaining: 0 }
  waiter.failUnreplicated()
  return LEFT
}

/** The attempt ended with an error: tries again after a transient one, and fails the waiter after others. */
export function stepAfterFailure(
  queue: Queue,
  waiter: AnyWaiter,
  error: unknown,
  { mayHaveBeenApplied }: AnyScriptCall,
): Step {
  if (!(error instanceof RedisUnavailableError)) {
    const isRefused = error instanceof RedisRefusedError
    // An attempt that may have been applied may still be in flight: the waiter that fails releases what comes of it.
    if (!isRefused || !mayHaveBeenApplied) waiter.endAttempt(!isRefused && !(error instanceof WrongTypeError))
    waiter.fail(error)
    return LEFT
  }
  const { cause } = error
  const isTransient = cause !== undefined && classify(cause) === 'transient'
  if (isTransient && !isShortage(cause) && !waiter.lastTry) {
    waiter.endAttempt(true)
    return { kind: 'blocked', remaining: RETRY_AFTER_TRANSIENT_ERROR }
  }
  waiter.fail(error)
  if (!isTransient) failWaitersOfSameLength(queue, error)
  return LEFT
}

/** The waiters that have waited as long met the same silence, and need not wait through it once more. */
function failWaitersOfSameLength({ waiters, around }: Queue, error: unknown) {
  const { clock, unavailableAfter } = around
  for (const waiter of [...waiters]) {
    if (clock.elapsedSince(waiter.joined) < unavailableAfter) return
    waiter.fail(error)
  }
}
