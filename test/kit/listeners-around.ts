import type { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'

/** Not public, reached into as by `leftIn`. */
interface Insides {
  client: {
    connections: { transport: { redis: Redis } }
    subscriptions: { source: { redis: Redis } }
  }
}

/** How many listeners there are on the process and on this client's connections to a single server. */
export function listenersAround(redisson: Redisson): number {
  const { connections, subscriptions } = (redisson as unknown as Insides).client
  const opened = [connections.transport.redis, subscriptions.source.redis]
  const emitters = [process, ...opened, ...opened.map(({ stream }) => stream)]
  return emitters.reduce(
    (sum, emitter) =>
      sum + emitter.eventNames().reduce((count, event) => count + emitter.listenerCount(event as never), 0),
    0,
  )
}
