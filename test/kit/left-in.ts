// biome-ignore-all lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
import type { Redisson } from '../../src/index'
import type { Watchdog } from '../../src/leases/watchdog'
import { internalsOf } from './internals'

/** How much a client still keeps, by what it is; empty when it keeps nothing. A leak shows nowhere else. */
export function leftIn(redisson: Redisson): Record<string, number> {
  return Object.fromEntries(Object.entries(keptBy(redisson)).filter(([, size]) => size > 0))
}

/** How many objects of each kind a client keeps at this moment, also of those that it does not keep. */
export function keptBy(redisson: Redisson) {
  const client = internalsOf(redisson)
  const { queues, leases, explicitHolds, orphans, scripts } = client
  const { channels, source, sweeper, pinger } = client['subscriptions'] as unknown as Subscriptions
  return {
    queues: queues['queues'].size,
    live: leases.live['leases'].size,
    ...watchedBy(leases['watchdog']),
    entries: explicitHolds['entries'].size,
    orphans: orphans.size,
    channels: channels.size,
    sourceChannels: keptBySource(source),
    channelTimers: [sweeper, pinger].filter((timer) => timer !== undefined).length,
    pending: scripts.inFlight,
    scriptTimers: scripts['silenceCheck'] ? 1 : 0,
  }
}

interface Subscriptions {
  readonly channels: Map<string, unknown>
  readonly source: object
  readonly sweeper: unknown
  readonly pinger: unknown
}

/** How many leases a watchdog watches, and how many timers run. */
export function watchedBy(watchdog: Watchdog): { readonly watched: number; readonly timers: number } {
  return { watched: watchdog['watched'].size, timers: watchdog['timer']['timer'] ? 1 : 0 }
}

/** How many channels a source of messages keeps, wanted or not: of one connection, of a cluster, or of a server in memory. */
export function keptBySource(source: object): number {
  const lists = source as Partial<Record<'channels' | 'dirty' | 'routes', { readonly size: number }>>
  if (!lists.channels && !lists.routes)
    throw new Error('the source has other fields than this function knows')
  return [lists.channels, lists.dirty, lists.routes].reduce((sum, list) => sum + (list?.size ?? 0), 0)
}
