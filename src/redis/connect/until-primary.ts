import type { Redis } from 'ioredis'
import { RedisUnavailableError } from '../../api/errors'
import type { Clock } from '../../util/clock'
import type { RedisTarget } from '../target/target'
import { inTime, unlessReply } from './connect'
import { handshakes } from './ioredis-internals'

/** How often it looks, in ms. */
const LOOK_AGAIN = 250

/**
 * Waits until the server at a plain address is no replica. Rejects with RedisUnavailableError after the
 * connect timeout: a service may start during a failover, and a replica never grants a lock. Throws TypeError
 * if a cluster node or a sentinel answers. Otherwise most locks would fail there later, with MOVED or an
 * unknown command.
 */
export async function untilPrimary(redis: Redis, target: RedisTarget, clock: Clock): Promise<void> {
  const begun = clock.now()
  for (;;) {
    const { mode, isReplica } = handshakes.get(redis)!
    if (mode === 'cluster')
      throw new TypeError(
        `${target.description} is a node of a Redis Cluster, and a connection to it alone would answer ` +
          'MOVED for most locks: give { redis: { nodes: [...] } }',
      )
    if (mode === 'sentinel')
      throw new TypeError(
        `${target.description} is a sentinel, which holds no locks: give { redis: { sentinels: [...], name ` +
          '} }',
      )
    if (!isReplica) return
    if (clock.elapsedSince(begun) + LOOK_AGAIN > target.connectTimeout)
      throw new RedisUnavailableError(
        `Redis at ${target.description} is a replica, and stayed one for ${target.connectTimeout} ms. A ` +
          'replica grants no locks: give the address of the primary, or { redis: { sentinels: [...], name ' +
          '} }',
      )
    await new Promise<void>((over) => clock.after(LOOK_AGAIN, over))
    // The name may lead to another server by now.
    redis.disconnect(true)
    await inTime(redis.ping().catch(unlessReply), target, clock)
  }
}
