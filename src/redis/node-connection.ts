import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { addressOf } from './cluster-nodes'
import { openChecked } from './handshake'
import { connectionOptions } from './options/connection-options'
import type { RedisTarget } from './target'

/** Options of a connection whose commands must not be sent again on another connection. */
export const NO_RESENDING = {
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions

/** Opens a separate connection to one node of the cluster. The node is named as in ioredis's map of slots. */
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
  // The connections of the Cluster report that a node is away.
  redis.on('error', () => {})
  redis.connect().catch(() => {})
  return redis
}
