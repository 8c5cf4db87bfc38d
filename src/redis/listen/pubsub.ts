import { Cluster, type Redis } from 'ioredis'
import type { ResolvedOptions } from '../../api/options'
import type { Clock } from '../../util/clock'
import { connectOrFail, inTime, unavailable } from '../connect/connect'
import type { ConnectedClient } from '../reports/connected-client'
import type { CommandConnection } from '../send/command-connection'
import type { RedisTarget } from '../target/target'
import { ClusterSubscriber } from './cluster-subscriber'
import { answerInspectors } from './inspection-channel'
import { type ChannelSource, SubscriberConnection } from './subscriber'

/** How waiters are notified. */
export type PublishCommand = 'publish' | 'spublish'

/**
 * Chooses as Redisson does: PUBLISH outside a cluster, and in a cluster by the mode. AUTO asks the server.
 */
export async function choosePublish(
  /** One node, if the server is a cluster. */
  redis: Redis,
  target: RedisTarget,
  { shardedSubscriptionMode }: Pick<ResolvedOptions, 'shardedSubscriptionMode'>,
  clock: Clock,
): Promise<PublishCommand> {
  if (target.kind !== 'cluster') return 'publish'
  if (shardedSubscriptionMode !== 'AUTO') return shardedSubscriptionMode === 'ON' ? 'spublish' : 'publish'
  try {
    await inTime(redis.pubsub('SHARDNUMSUB'), target, clock)
    return 'spublish'
  } catch (error) {
    // Only an unknown command means that there is no sharded pub/sub. After another error, a guess could miss
    // all messages.
    if (/\bunknown (\w+ )?(sub)?command\b/i.test((error as Error).message)) return 'publish'
    throw unavailable(error, target)
  }
}

/** Opens the source of messages; resolves once it works, and rejects as `connectOrFail` does. */
export async function openSource(
  commands: CommandConnection,
  publish: PublishCommand,
  { clock, channels, inspected }: ConnectedClient,
): Promise<ChannelSource> {
  const { redis, target } = commands
  if (redis instanceof Cluster) {
    const listen = (node: Redis) => inspected && answerInspectors(node, node, inspected)
    redis.on('+node', listen)
    redis.nodes('all').forEach(listen)
    return new ClusterSubscriber(redis, target, publish === 'spublish', clock, channels)
  }
  const subscriber = commands.openCompanion({ protocol: 2 })
  if (inspected) answerInspectors(subscriber, redis, inspected)
  const source = new SubscriberConnection(subscriber, false, clock, channels)
  await connectOrFail(subscriber, target, clock)
  return source
}
