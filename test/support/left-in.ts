import type { Redisson } from '../../src/index'

/** Nothing of this is public; here it is reached into, for a leak shows nowhere else. */
interface Insides {
  client: {
    waiting: { gates: Map<unknown, unknown> }
    holds: { holds: Map<unknown, unknown> }
    explicitCallers: { table: { slots: Map<unknown, unknown>; expired: Map<unknown, unknown> } }
    givingBack: { underWay: Set<unknown> }
    subscriptions: {
      channels: Map<unknown, unknown>
      /** In a cluster there are several, and what is wanted of them is kept before them. */
      source: { channels?: Map<unknown, unknown>; dirty?: Set<unknown>; routes?: Map<unknown, unknown> }
      sweeper: unknown
      pinger: unknown
    }
    runner: { pending: Iterable<unknown>; supervisor: unknown }
    leases: { expiring: Set<unknown>; watchdog: { count: number; alarm: { timer: unknown } } }
  }
}

/** How much a client still keeps, by what it is; empty when it keeps nothing. */
export function leftIn(redisson: Redisson): Record<string, number> {
  const { client } = redisson as unknown as Insides
  const { subscriptions, leases, runner } = client
  const { channels, dirty, routes } = subscriptions.source
  const timers = [subscriptions.sweeper, subscriptions.pinger, runner.supervisor, leases.watchdog.alarm.timer]
  const sizes = {
    gates: client.waiting.gates.size,
    holds: client.holds.holds.size,
    slots: client.explicitCallers.table.slots.size,
    givingBack: client.givingBack.underWay.size,
    channels: [subscriptions.channels, channels, dirty, routes].reduce(
      (sum, each) => sum + (each?.size ?? 0),
      0,
    ),
    pending: [...runner.pending].length,
    leases: leases.expiring.size,
    watched: leases.watchdog.count,
    timers: timers.filter((timer) => timer !== undefined).length,
  }
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => size > 0))
}
