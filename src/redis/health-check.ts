import type { Redis } from 'ioredis'
import type { Clock } from '../util/clock'

/** A connection that does not answer a PING for this long has gone silent and is cut. */
const PING_TIMEOUT = 3_000

/**
 * Sends a PING and cuts the connection when nothing comes back in time. One that has not got through its
 * handshake by then is cut as well: ioredis's connect timeout ends with the TCP connect.
 */
export function pingOrDisconnect(redis: Redis, clock: Clock): void {
  if (redis.status === 'connect') {
    const { stream } = redis
    clock.after(PING_TIMEOUT, () => {
      if (redis.status === 'connect' && redis.stream === stream) redis.disconnect(true)
    })
    return
  }
  if (redis.status !== 'ready') return
  const timer = clock.after(PING_TIMEOUT, () => redis.disconnect(true))
  // An error is an answer too.
  redis.ping().then(
    () => timer.cancel(),
    () => timer.cancel(),
  )
}
