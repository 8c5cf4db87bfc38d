import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { WaitTarget } from '../waiting/admission'
import type { Attempt } from '../waiting/attempt'
import { WaitQueues, type WaitQueuesOptions } from '../waiting/wait-queues'
import type { GrantedReply } from '../waiting/waiter'
import type { ClientEvents } from './event-emitter'
import { IS_DEVELOPMENT, placeInCode } from './place-in-code'

const { start, end, asyncStart, asyncEnd, error } = tracingChannel('rlock:acquire')
const losses = channel('rlock:lost')

/** What the messages of `tracing:rlock:acquire` carry; `result` and `error` come with the end. */
interface Acquisition {
  readonly clientId: string
  /** What is acquired, as messages call it: `the lock "name"`. */
  readonly subject: string
  readonly key: string
  /** In ms; absent: without limit. */
  readonly waitTime: number | undefined
  /** Whether it was acquired in time. */
  result?: boolean
  error?: unknown
}

/** Every acquisition of every kind passes through here, except a re-entry, which never waits for others. */
export class TracedQueues extends WaitQueues {
  constructor(
    private readonly tracedId: string,
    options: WaitQueuesOptions,
  ) {
    super(options)
  }

  override acquire<Grant>(
    target: WaitTarget,
    attempt: Attempt<Grant>,
  ): Promise<GrantedReply<Grant> | undefined> {
    if (IS_DEVELOPMENT) attempt.at = placeInCode()
    if (!isTraced()) return super.acquire(target, attempt)
    const { subject, waitTime } = attempt
    const acquisition: Acquisition = { clientId: this.tracedId, subject, key: target.key, waitTime }
    // `tracePromise` is not used: its result would be the reply, and the caller would go on before the end is published.
    const reply = start.runStores(acquisition, () => super.acquire(target, attempt))
    end.publish(acquisition)
    reply.then(
      (granted) => {
        acquisition.result = granted !== undefined
        settled(acquisition)
      },
      (failure) => {
        acquisition.error = failure
        error.publish(acquisition)
        settled(acquisition)
      },
    )
    return reply
  }
}

/** The getter of Node's TracingChannel is younger than the oldest Node that the package runs on. */
function isTraced(): boolean {
  return (
    start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    error.hasSubscribers
  )
}

function settled(acquisition: Acquisition) {
  asyncStart.publish(acquisition)
  asyncEnd.publish(acquisition)
}

/** Publishes what `lockLost` and `permitLost` tell. */
export function publishLosses(clientId: string, events: ClientEvents): void {
  const publish = (event: object) => {
    if (losses.hasSubscribers) losses.publish({ clientId, ...event })
  }
  events.on('lockLost', publish)
  events.on('permitLost', publish)
}
