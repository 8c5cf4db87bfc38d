import { Redis, type RedisOptions } from 'ioredis'
import { systemClock } from '../../util/clock'
import type { RedisTarget } from '../target/target'
import { connectionOptions } from './connection-options'
import { checkDatabase, logIn, openSocketsOutsideRequests } from './ioredis-internals'
import { stayWithSentinels } from './sentinels'

/** Options of a connection whose commands must not be sent again on another connection. */
export const NO_RESENDING = {
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions

/** Makes a connection that becomes ready only when it is in its database. */
export function openChecked(target: RedisTarget, override?: RedisOptions): Redis {
  const redis = new Redis(connectionOptions(target, override))
  openSocketsOutsideRequests(redis)
  checkDatabase(redis)
  logIn(redis)
  stayWithSentinels(redis, systemClock)
  return redis
}

/** Opens a separate connection to one node of a cluster, by the address that `reachedAt` tells. */
export function openNode(target: RedisTarget, address: string): Redis {
  const colon = address.lastIndexOf(':')
  const redis = openChecked(target, {
    ...NO_RESENDING,
    host: address.slice(0, colon),
    port: Number(address.slice(colon + 1)),
  })
  // The connections of the Cluster report that a node is away.
  redis.on('error', () => {})
  redis.connect().catch(() => {})
  return redis
}
