import type { Redis } from 'ioredis'
import type { Clock } from '../../util/clock'

/** A connection without an answer to a PING for this long, in ms, counts as silent and is closed. */
const PING_TIMEOUT = 3_000

/**
 * Sends a PING and closes the connection if no answer comes in time. Also closes a connection that has not
 * finished its handshake by then: the connect timeout of ioredis covers only the TCP connect.
 */
export function pingOrDisconnect(redis: Redis, clock: Clock): void {
  const { status, stream } = redis
  if (status !== 'connect' && status !== 'ready') return
  const timer = clock.after(PING_TIMEOUT, () => {
    if (redis.status === status && redis.stream === stream) redis.disconnect(true)
  })
  const answered = () => timer.cancel()
  // An error is an answer too.
  if (status === 'ready') redis.ping().then(answered, answered)
}
