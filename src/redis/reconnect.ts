import type { Redis } from 'ioredis'
import type { Clock } from '../util/clock'

const RECONNECT_AFTER = 50

/**
 * Opens a connection again that ioredis ended by itself: notified of a failover, or cut, while it is asking the
 * sentinels for the primary, it would stay away for good.
 */
export function reconnectUnless(isClosed: () => boolean, redis: Redis, clock: Clock): void {
  redis.on('end', () => {
    clock.after(RECONNECT_AFTER, () => {
      if (!isClosed() && redis.status === 'end') redis.connect().catch(() => {})
    })
  })
}
