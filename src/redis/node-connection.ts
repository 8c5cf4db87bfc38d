import type { Redis, RedisOptions } from 'ioredis'
import { openChecked } from './handshake'
import { connectionOptions } from './options/connection-options'
import type { RedisTarget } from './target'

/** Options of a connection whose commands must not be sent again on another connection. */
export const NO_RESENDING = {
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions

/** Opens a separate connection to one node of a cluster, by the address that `reachedAt` tells. */
export function openNode(target: RedisTarget, address: string): Redis {
  const colon = address.lastIndexOf(':')
  const redis = openChecked(
    connectionOptions(target, {
      ...NO_RESENDING,
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      db: 0,
    }),
  )
  // The connections of the Cluster report that a node is away.
  redis.on('error', () => {})
  redis.connect().catch(() => {})
  return redis
}
