import type { Redis } from 'ioredis'
import type { Clock } from '../../util/clock'

const RECONNECT_AFTER = 50

/**
 * Opens a connection again after ioredis has ended it. ioredis ends one for ever if a failover or a
 * disconnect comes while it asks the sentinels for the primary.
 */
export function reconnectUnless(isClosed: () => boolean, redis: Redis, clock: Clock): void {
  redis.on('end', () => {
    clock.after(RECONNECT_AFTER, () => {
      if (!isClosed() && redis.status === 'end') redis.connect().catch(() => {})
    })
  })
}
