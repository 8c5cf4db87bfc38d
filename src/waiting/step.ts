import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/errors'
import type { AnyScriptCall } from '../scripts/script-call'
import type { Clock } from '../util/clock'
import type { AnyWaiter } from './waiter'

const RETRY_AFTER_TRANSIENT_ERROR = 200

/** How often a client asks for an acquisition, in all, while no replica acknowledges it. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/**
 * What a queue does after an attempt. `remaining`: ms until the lock may be free without a message; -1: it has no expiry.
 */
export type Step =
  | { readonly kind: 'left' }
  | {
      readonly kind: 'acquired' | 'blocked'
      readonly remaining: number
      /** How many permits are left for other waiters, if the answer said so. */
      readonly left?: number | undefined
    }

export const LEFT: Step = { kind: 'left' }

/** The part of a queue that failures concern. */
interface Queue {
  readonly waiters: Iterable<AnyWaiter>
  readonly around: { readonly clock: Clock; readonly unavailableAfter: number }
}

/**
 * The server granted it, but no replica acknowledged that. The next try is idempotent, and it writes again, so that the next
 * WAIT has a write to wait for.
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
    // An attempt that may have been applied may still be in flight. Then it stays the waiter's attempt in flight, so that the
    // failing waiter releases what it may be granted.
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

/** Fails the waiters that have waited as long: they met the same silence, and must not wait through it again. */
function failWaitersOfSameLength({ waiters, around }: Queue, error: unknown) {
  const { clock, unavailableAfter } = around
  for (const waiter of [...waiters]) {
    if (clock.elapsedSince(waiter.joined) < unavailableAfter) return
    waiter.fail(error)
  }
}
