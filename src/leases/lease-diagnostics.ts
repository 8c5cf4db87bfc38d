import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { EventOrigin } from '../api/events'
import { inThisContext } from '../util/async-context'
import type { Clock } from '../util/clock'
import type { HoldOutcome, Lease, LossReason } from './lease'

const holds = tracingChannel('rlock:hold')
const renewals = channel('rlock:renew')

/** What the messages of `tracing:rlock:hold` carry; the last four come with the end. */
interface HoldMessage extends ReturnType<typeof messageOf> {
  outcome?: HoldOutcome
  /** In ms. */
  heldFor?: number
  /** Only with the outcome `lost`. */
  reason?: LossReason | undefined
  error?: unknown
}

/** `overdue`: no answer came in a third of lockWatchdogTimeout; it may come later. `gone`: the server does not know the hold. */
type RenewalOutcome = 'renewed' | 'gone' | 'failed' | 'overdue'

/** For a Node whose tracing channels have no `hasSubscribers` yet. */
export function isTraced({ start, end, asyncStart, asyncEnd, error }: TracingChannel): boolean {
  return [start, end, asyncStart, asyncEnd, error].some(({ hasSubscribers }) => hasSubscribers)
}

/** What every message says of a lease. */
function messageOf({ leased, owner }: Lease, origin: EventOrigin) {
  const { name, kind, key } = leased
  return { ...origin, name, kind, key, owner }
}

/** A hold begins. Its end is published in the async context of this moment, also where a timer or an answer finds it lost. */
export function publishHold(lease: Lease, origin: EventOrigin, clock: Clock): void {
  const { hasSubscribers = isTraced(holds) } = holds
  // What follows is a function of its own: one with closures allocates when it is called, also without a subscriber.
  if (hasSubscribers) publishTraced(lease, origin, clock)
}

function publishTraced(lease: Lease, origin: EventOrigin, clock: Clock): void {
  const message: HoldMessage = messageOf(lease, origin)
  holds.start.publish(message)
  holds.end.publish(message)
  lease.publishEnd = inThisContext((outcome: HoldOutcome, error?: unknown) => {
    lease.publishEnd = undefined
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
  lease: Lease,
  origin: EventOrigin,
  outcome: RenewalOutcome,
  duration: number,
  error?: unknown,
): void {
  if (renewals.hasSubscribers) renewals.publish({ ...messageOf(lease, origin), outcome, duration, error })
}
