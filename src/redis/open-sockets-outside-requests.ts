import type { Cluster, Redis } from 'ioredis'
import { outsideRequests } from '../util/async-context'

/** Makes a connection open its sockets in an async context that belongs to no request, also when it reconnects. */
export function openSocketsOutsideRequests(redis: Redis | Cluster): void {
  const { connect } = redis
  redis.connect = (...args: Parameters<typeof connect>) => outsideRequests(() => connect.apply(redis, args))
}
