import { inspect } from 'node:util'
import type { Redisson } from '../../../../src/index'

/** The queues of a client and what it listens to, as far as that helps to see why somebody sleeps. */
export function describeWaiting(redisson: Redisson): string {
  // biome-ignore lint/suspicious/noExplicitAny: the insides are no interface
  const { client } = redisson as any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const queues = [...client.queues.queues].map(([id, queue]: [string, any]) => ({
    lock: id,
    waiting: [...queue.waiters].length,
    isWoken: queue.isWoken,
    state: queue.state,
    yields: queue.sleeping?.next === 'tryNow',
    confirmed: queue.environment.isConfirmed(queue.lock),
    cohort: queue.environment.cohort(queue.lock),
    first: firstOf(queue),
  }))
  const { transport: commands } = client.connections
  const senders = [...(commands.senders ?? [])].map(([name, sender]) => ({
    name,
    status: sender.redis.status,
    busy: sender.busy,
    queued: sender.queue.length,
    sent: sender.sent,
  }))
  const { state } = commands
  const source = client.subscriptions.source
  const subscriber = source.redis ? { status: source.redis.status, channels: source.channels } : source.routes
  return inspect(
    { state, queues, senders, subscriber, now: client.clock.now() },
    { depth: 6, breakLength: 140 },
  )
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function firstOf(queue: any) {
  const waiter = queue.waiters.first
  if (!waiter) return undefined
  const { attempt, inFlight, joined, lastTry, unacknowledged } = waiter
  const { waitTime } = attempt
  const trying = inFlight && {
    isInFlight: inFlight.isInFlight,
    started: inFlight.started,
    last: inFlight.lastError?.message,
  }
  return { joined, waitTime, lastTry, unacknowledged, trying }
}
