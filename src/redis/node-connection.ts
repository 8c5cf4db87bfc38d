import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { addressOf } from './cluster-nodes'
import { openChecked } from './handshake'
import { connectionOptions } from './options/connection-options'
import type { RedisTarget } from './target'

/** What a connection needs that resends nothing itself, because what it carries belongs to one connection. */
export const NO_RESENDING = {
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions

/** Opens a connection of our own to one node of the cluster, named as in ioredis's map of slots. */
export function openNode(cluster: Cluster, target: RedisTarget, key: string): Redis {
  const known = cluster.nodes('all').find((node) => addressOf(node) === key)
  const at = key.lastIndexOf(':')
  const redis = openChecked(
    connectionOptions(target, {
      ...NO_RESENDING,
      host: known?.options.host ?? key.slice(0, at),
      port: known?.options.port ?? Number(key.slice(at + 1)),
      db: 0,
    }),
  )
  // That a node is away is reported by the cluster's own connections.
  redis.on('error', () => {})
  redis.connect().catch(() => {})
  return redis
}
