import type { Redis } from 'ioredis'
import type { Clock } from '../util/clock'

/** A connection without an answer to a PING for this long, in ms, counts as silent and is closed. */
const PING_TIMEOUT = 3_000

/**
 * Sends a PING and closes the connection if no answer comes in time. Also closes a connection that has not finished its
 * handshake by then: the connect timeout of ioredis covers only the TCP connect.
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
  const answered = redis.ping().catch(() => {})
  answered.then(() => timer.cancel())
}
