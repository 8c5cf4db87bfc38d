// All diagnostics channels of this package; docs/reference/events.md says what they carry. The code that is
// watched asks a channel whether it has subscribers before it calls a function here: a function with closures
// allocates when it is called, and without a subscriber nothing is to be allocated.
import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { inThisContext } from '../util/async-context'
import type { Clock, Moment } from '../util/clock'
import { RedisRefusedError, RedissonShutdownError } from './errors'
import type { EventOrigin } from './events'

export const acquisitions = tracingChannel('rlock:acquire')
export const holds = tracingChannel('rlock:hold')
const renewals = channel('rlock:renew')

/** For a Node whose tracing channels have no `hasSubscribers` yet. */
export function isTraced({ start, end, asyncStart, asyncEnd, error }: TracingChannel): boolean {
  return [start, end, asyncStart, asyncEnd, error].some(({ hasSubscribers }) => hasSubscribers)
}

/** What a message says of the object that is acquired. */
interface AcquiredObject {
  readonly name: string
  readonly kind: string
  readonly subject: string
  readonly key: string
}

/** What the messages of `tracing:rlock:acquire` carry; the last four come with the end. */
interface Acquisition extends EventOrigin, AcquiredObject {
  /** In ms; absent: without limit. */
  readonly waitTime: number | undefined
  /** Whether it was acquired in time. */
  result?: boolean
  outcome?: 'acquired' | 'timeout' | 'aborted' | 'refused' | 'error'
  /** In ms. */
  duration?: number
  error?: unknown
}

/** Traces an acquisition of any kind, except a re-entry, which never waits for others. */
export function traceAcquisition<Result>(
  acquire: () => Promise<Result>,
  { name, kind, subject, key }: AcquiredObject,
  { signal, waitTime }: { readonly signal: AbortSignal | undefined; readonly waitTime: number },
  origin: EventOrigin,
  clock: Clock,
): Promise<Result> {
  const { start, end, asyncStart, asyncEnd, error } = acquisitions
  const limit = waitTime === Number.POSITIVE_INFINITY ? undefined : waitTime
  const acquisition: Acquisition = { ...origin, name, kind, subject, key, waitTime: limit }
  const began = clock.now()
  const settled = (outcome: NonNullable<Acquisition['outcome']>) => {
    acquisition.outcome = outcome
    acquisition.duration = clock.elapsedSince(began)
    if (outcome === 'acquired' || outcome === 'timeout') acquisition.result = outcome === 'acquired'
    else error.publish(acquisition)
    asyncStart.publish(acquisition)
    asyncEnd.publish(acquisition)
  }
  // `tracePromise` is not used: its result would be the reply, and the caller would go on before the end is
  // published.
  const reply = start.runStores(acquisition, acquire)
  end.publish(acquisition)
  reply.then(
    (granted) => settled(granted ? 'acquired' : 'timeout'),
    (failure) => {
      acquisition.error = failure
      settled(outcomeOf(failure, signal))
    },
  )
  return reply
}

function outcomeOf(failure: unknown, signal: AbortSignal | undefined) {
  if (failure instanceof RedisRefusedError) return 'refused'
  const isAborted = signal?.aborted && failure === signal.reason
  return isAborted || failure instanceof RedissonShutdownError ? 'aborted' : 'error'
}

/** What the channels say of a lease. */
interface TracedLease {
  readonly leased: { readonly name: string; readonly kind: string; readonly key: string }
  readonly owner: string
  readonly book: { readonly acquired: Moment }
  readonly lossReason: string | undefined
}

/** How a hold ended. `shutdown`: its client was shut down and left it to its lease. */
type HoldOutcome = 'released' | 'expired' | 'lost' | 'shutdown'

export type PublishEnd = (outcome: HoldOutcome, error?: unknown) => void

/** What the messages of `tracing:rlock:hold` carry; the last four come with the end. */
interface HoldMessage extends ReturnType<typeof messageOf> {
  outcome?: HoldOutcome
  /** In ms. */
  heldFor?: number
  /** Only with the outcome `lost`. */
  reason?: string | undefined
  error?: unknown
}

/**
 * `overdue`: no answer came in a third of lockWatchdogTimeout; it may come later. `gone`: the server does not
 * know the hold.
 */
type RenewalOutcome = 'renewed' | 'gone' | 'failed' | 'overdue'

/** What every message says of a lease. */
function messageOf({ leased, owner }: TracedLease, origin: EventOrigin) {
  const { name, kind, key } = leased
  return { ...origin, name, kind, key, owner }
}

/**
 * A hold begins. Returns what publishes its end, once, in the async context of this moment, also where a
 * timer or an answer finds it lost.
 */
export function publishHold(lease: TracedLease, origin: EventOrigin, clock: Clock): PublishEnd {
  const message: HoldMessage = messageOf(lease, origin)
  holds.start.publish(message)
  holds.end.publish(message)
  return inThisContext((outcome: HoldOutcome, error?: unknown) => {
    if (message.outcome) return
    message.outcome = outcome
    message.heldFor = clock.elapsedSince(lease.book.acquired)
    if (outcome === 'lost') {
      message.reason = lease.lossReason
      message.error = error
      holds.error.publish(message)
    }
    holds.asyncStart.publish(message)
    holds.asyncEnd.publish(message)
  })
}

/** `duration`: how long the answer took, in ms; so far, where it is overdue. */
export function publishRenewal(
  lease: TracedLease,
  origin: EventOrigin,
  outcome: RenewalOutcome,
  duration: number,
  error?: unknown,
): void {
  if (renewals.hasSubscribers) renewals.publish({ ...messageOf(lease, origin), outcome, duration, error })
}
