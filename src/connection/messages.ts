import { Cluster, Redis } from 'ioredis'
import type { ResolvedOptions } from '../redisson-options'
import type { Clock } from '../runtime/clock'
import { ClusterSubscriber } from './cluster-subscriber'
import { type CommandConnection, connectionOptions, cutIfSilent } from './command-connection'
import { classify } from './failures'
import { connectOrFail, inTime, isReplyError, unavailable } from './first-contact'
import { KeyTracking } from './key-tracking'
import { NO_RESENDING } from './node-connection'
import type { RedisTarget } from './redis-target'
import { type ChannelEvents, type ChannelSource, SubscriberConnection } from './subscriber-connection'

/** How whoever waits is told. */
export type PublishCommand = 'publish' | 'spublish'

/** Redisson's choice: outside a cluster PUBLISH, in one what the mode says, AUTO asking whether it can be sharded. */
export async function choosePublish(
  redis: Redis | Cluster,
  target: RedisTarget,
  { shardedSubscriptionMode }: Pick<ResolvedOptions, 'shardedSubscriptionMode'>,
  clock: Clock,
): Promise<PublishCommand> {
  if (!(redis instanceof Cluster)) return 'publish'
  if (shardedSubscriptionMode !== 'AUTO') return shardedSubscriptionMode === 'ON' ? 'spublish' : 'publish'
  try {
    await inTime(redis.pubsub('SHARDNUMSUB'), target, clock)
    return 'spublish'
  } catch (error) {
    // Only "no such command" means no; a guess after anything else would put us in another room than our peers.
    if (isReplyError(error) && classify(error) === 'final') return 'publish'
    throw unavailable(error, target)
  }
}

/** Where messages come from, and with them what the server tells of keys that changed. */
export function openSource(
  commands: CommandConnection,
  target: RedisTarget,
  publish: PublishCommand,
  clock: Clock,
  events: ChannelEvents,
  keysChanged: (keys: readonly string[] | undefined) => void,
): { source: ChannelSource; tracking: KeyTracking | undefined; ready: Promise<void> } {
  const { redis } = commands
  if (redis instanceof Cluster) {
    const source = new ClusterSubscriber(redis, target, publish === 'spublish', clock, events)
    return { source, tracking: undefined, ready: Promise.resolve() }
  }
  const subscriber = new Redis(connectionOptions(target, { ...NO_RESENDING, protocol: 2 }))
  // The command connection reports that the server is away; twice would be once too often.
  subscriber.on('error', () => {})
  // Where renewals go another way than commands, behind Sentinel, each would be told of as somebody else's change.
  const tracking = target.kind === 'standalone' ? new KeyTracking(redis, subscriber, keysChanged) : undefined
  const source = new SubscriberConnection(subscriber, false, clock, events, (silent) =>
    cutIfSilent(silent, clock),
  )
  return { source, tracking, ready: connectOrFail(subscriber, target, clock) }
}
