import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify, isShortage } from '../redis/errors'
import type { AnyScriptCall } from '../scripts/script-call'
import type { AnyWaiter, WaitersOfLock } from './waiter'

const RETRY_AFTER_TRANSIENT_ERROR = 200

/** How many times in all a client tries to acquire while no replica acknowledges. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/**
 * What a queue does after a try. `remaining`: ms until the lock may be free without a message; -1: it has no expiry.
 */
export type Step =
  | { readonly kind: 'left' }
  | {
      readonly kind: 'acquired' | 'blocked'
      readonly remaining: number
      /** How many permits are free for other waiters, if the answer said so. */
      readonly left?: number | undefined
    }

export const LEFT: Step = { kind: 'left' }

/**
 * The server granted the try, but no replica acknowledged it. The next try is idempotent. It writes again, so that the next
 * WAIT has a write to wait for.
 */
export function stepWithoutReplica(waiter: AnyWaiter): Step {
  waiter.endTry(true)
  const tries = ++waiter.unacknowledged
  if (tries < TRIES_FOR_ACKNOWLEDGEMENT && !waiter.lastTry) return { kind: 'blocked', remaining: 0 }
  waiter.failUnreplicated()
  return LEFT
}

/** The try ended with an error: the queue tries again after a transient error, and fails the waiter after any other. */
export function stepAfterFailure(
  queue: WaitersOfLock,
  waiter: AnyWaiter,
  error: unknown,
  { mayHaveBeenApplied }: AnyScriptCall,
): Step {
  if (!(error instanceof RedisUnavailableError)) {
    const isRefused = error instanceof RedisRefusedError
    // A try that may have been applied may still be in flight. Then it stays the waiter's try in flight, so that the failing
    // waiter releases what the try may be granted.
    if (!isRefused || !mayHaveBeenApplied) waiter.endTry(!isRefused && !(error instanceof WrongTypeError))
    waiter.fail(error)
    return LEFT
  }
  const { cause } = error
  const isTransient = cause !== undefined && classify(cause) === 'transient'
  if (isTransient && !isShortage(cause) && !waiter.lastTry) {
    waiter.endTry(true)
    return { kind: 'blocked', remaining: RETRY_AFTER_TRANSIENT_ERROR }
  }
  waiter.fail(error)
  if (!isTransient) failWaitersOfSameWait(queue, error)
  return LEFT
}

/** Fails the waiters that have waited as long. They met the same silence, and must not wait through it again. */
function failWaitersOfSameWait({ waiters, environment }: WaitersOfLock, error: unknown) {
  const { clock, unavailableAfter } = environment
  for (const waiter of [...waiters]) {
    if (clock.elapsedSince(waiter.joined) < unavailableAfter) return
    waiter.fail(error)
  }
}
