import { inspect } from 'node:util'
import type { Redisson } from '../../../src/index'

/** The queues of a client and what it listens to, as far as that helps to see why somebody sleeps. */
export function describeWaiting(redisson: Redisson): string {
  // biome-ignore lint/suspicious/noExplicitAny: the insides are nobody's interface
  const { client } = redisson as any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const gates = [...client.waiting.gates].map(([id, gate]: [string, any]) => ({
    lock: id,
    waiting: [...gate.queue].length,
    wakeUps: gate.wakeUps,
    state: gate.state,
    staysBack: gate.whenItRings === gate.askNow,
    confirmed: gate.around.isConfirmed(gate.lock),
    turn: gate.around.turn(gate.lock),
    first: firstOf(gate),
  }))
  const senders = [...(client.acknowledged?.senders ?? [])].map(([name, sender]) => ({
    name,
    status: sender.redis.status,
    busy: sender.busy,
    queued: sender.queue.length,
    sent: sender.sent,
  }))
  const { state } = client.commands
  const source = client.subscriptions.source
  const subscriber = source.redis ? { status: source.redis.status, channels: source.channels } : source.routes
  return inspect(
    { state, gates, senders, subscriber, now: client.clock.now() },
    { depth: 6, breakLength: 140 },
  )
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function firstOf(gate: any) {
  const waiter = gate.first
  if (!waiter) return undefined
  const { attempt, joined, lastTry, unacknowledged } = waiter
  const { waitTime } = waiter.request
  const trying = attempt && {
    isUnderWay: attempt.isUnderWay,
    started: attempt.started,
    last: attempt.lastError?.message,
  }
  return { joined, waitTime, lastTry, unacknowledged, trying }
}
