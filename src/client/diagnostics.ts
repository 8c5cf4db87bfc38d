import { tracingChannel } from 'node:diagnostics_channel'
import { RedisRefusedError, RedissonShutdownError } from '../api/errors'
import type { EventOrigin } from '../api/events'
import { isTraced } from '../leases/lease-diagnostics'
import type { WaitTarget } from '../waiting/admission'
import type { Attempt } from '../waiting/attempt'
import { WaitQueues } from '../waiting/wait-queues'
import { ANCESTOR_ACQUIRED, type WaitResult } from '../waiting/waiter'
import { IS_DEVELOPMENT, placeInCode } from './place-in-code'

const acquisitions = tracingChannel('rlock:acquire')

/** What the messages of `tracing:rlock:acquire` carry; the last four come with the end. */
interface Acquisition extends EventOrigin, Pick<WaitTarget, 'name' | 'kind' | 'subject' | 'key'> {
  /** In ms; absent: without limit. */
  readonly waitTime: number | undefined
  /** Whether it was acquired in time. */
  result?: boolean
  outcome?: 'acquired' | 'timeout' | 'aborted' | 'refused' | 'error'
  /** In ms. */
  duration?: number
  error?: unknown
}

/** Every acquisition of every kind passes through here, except a re-entry, which never waits for others. */
export class TracedQueues extends WaitQueues {
  override acquire<Grant>(target: WaitTarget, attempt: Attempt<Grant>): Promise<WaitResult<Grant>> {
    if (IS_DEVELOPMENT) attempt.at = placeInCode()
    const { hasSubscribers = isTraced(acquisitions) } = acquisitions
    return hasSubscribers ? this.traced(target, attempt) : super.acquire(target, attempt)
  }

  /** By itself: a function with closures allocates when it is called, and without a subscriber nothing is to be allocated. */
  private traced<Grant>(target: WaitTarget, attempt: Attempt<Grant>): Promise<WaitResult<Grant>> {
    const { start, end, asyncStart, asyncEnd, error } = acquisitions
    const { name, kind, subject, key } = target
    const { signal, waitTime } = attempt.wanted
    const acquisition: Acquisition = { ...this.options.origin, name, kind, subject, key, waitTime }
    const { clock } = this.environment
    const began = clock.now()
    const settled = (outcome: NonNullable<Acquisition['outcome']>) => {
      acquisition.outcome = outcome
      acquisition.duration = clock.elapsedSince(began)
      if (outcome === 'acquired' || outcome === 'timeout') acquisition.result = outcome === 'acquired'
      else error.publish(acquisition)
      asyncStart.publish(acquisition)
      asyncEnd.publish(acquisition)
    }
    // `tracePromise` is not used: its result would be the reply, and the caller would go on before the end is published.
    const reply = start.runStores(acquisition, () =>
      // A subscriber may have aborted it just now.
      signal?.aborted ? Promise.reject(signal.reason) : super.acquire(target, attempt),
    )
    end.publish(acquisition)
    reply.then(
      (granted) => settled(granted ? 'acquired' : 'timeout'),
      (failure) => {
        // The caller enters the hold of its ancestor.
        if (failure === ANCESTOR_ACQUIRED) return settled('acquired')
        acquisition.error = failure
        settled(outcomeOf(failure, signal))
      },
    )
    return reply
  }
}

function outcomeOf(failure: unknown, signal: AbortSignal | undefined) {
  if (failure instanceof RedisRefusedError) return 'refused'
  const isAborted = signal?.aborted && failure === signal.reason
  return isAborted || failure instanceof RedissonShutdownError ? 'aborted' : 'error'
}
