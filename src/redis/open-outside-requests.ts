import type { Cluster, Redis } from 'ioredis'
import { outsideRequests } from '../util/async-context'

/** Has a connection opened in the context of no request, now and whenever it is opened again. */
export function openOutsideRequests(redis: Redis | Cluster): void {
  const { connect } = redis
  redis.connect = (...args: Parameters<typeof connect>) => outsideRequests(() => connect.apply(redis, args))
}
