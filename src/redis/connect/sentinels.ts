import type { Redis, RedisOptions } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { random } from '../../util/random'
import { type Connector, ignore, type Primary } from './ioredis-internals'

// What a connection behind Sentinel needs of ioredis beyond its public events and options. Where another
// version of ioredis lacks it, a connection may stay on a primary that was replaced.

interface SentinelConnector extends Connector {
  /** The sentinels that it knows. `add` puts one at the end, and is false for one that it knows already. */
  readonly sentinelIterator?: { readonly sentinels: unknown[]; add(endpoint: unknown): boolean }
  /** Listens at all sentinels that it knows, and no longer at those of before. */
  initFailoverDetector?(): Promise<void>
}

/**
 * Of the connections that listen to sentinels. A firewall may drop such a quiet connection, which nothing but
 * the system notices.
 */
const LISTENING = {
  retryStrategy: () => 500 + 500 * random(),
  maxRetriesPerRequest: null,
  keepAlive: 10_000,
} as const satisfies RedisOptions
/** Sentinels tell each other every 2 s which primary they know, in ms. */
const SENTINEL_HAS_HEARD = 5_000
/** The channel on which a sentinel tells that it has found another one. */
const FOUND_SENTINEL = '+sentinel'

/** The address of the primary that a sentinel told to each connection last. */
export const primaryNamed = new WeakMap<Redis, string | undefined>()

const addressOf = ({ host, port }: Primary) => `${host}:${port}`

/**
 * Keeps a connection subscribed at the sentinels after these have restarted, or were replaced by others.
 * ioredis subscribes once, when it connects. A switch may have been announced before a subscription, and the
 * sentinel that told the primary may not have heard of it. So each sentinel is asked for the primary, once it
 * must have heard. It is asked again when it has found another sentinel, so that the client listens there.
 */
export function stayWithSentinels(redis: Redis, clock: Clock): void {
  const { connector } = redis as unknown as { connector: SentinelConnector }
  const [open, resolve] = [connector.connectToSentinel?.bind(connector), connector.resolve?.bind(connector)]
  if (!open || !resolve) return
  const { sentinelIterator: known } = connector
  const add = known?.add.bind(known)
  /** It knows sentinels at which it does not listen. */
  let hasNew = false
  if (known && add)
    known.add = (endpoint) => {
      const isNew = add(endpoint)
      // ioredis listens at the first ten, and forgets none that is gone.
      if (isNew) known.sentinels.unshift(known.sentinels.pop())
      hasNew ||= isNew
      return isNew
    }
  connector.resolve = async (endpoint) => {
    // ioredis notices that it was disconnected only after it has asked the next sentinel.
    if (!connector.connecting) throw new Error('Connection is closed.')
    const primary = await resolve(endpoint)
    primaryNamed.set(redis, primary ? addressOf(primary) : undefined)
    return primary
  }
  const ask = async (endpoint: unknown) => {
    const { stream } = redis
    const primary = await resolve(endpoint).catch(ignore)
    if (!primary || redis.stream !== stream || redis.status !== 'ready') return
    if (addressOf(primary) !== primaryNamed.get(redis)) redis.disconnect(true)
    else if (hasNew) connector.initFailoverDetector?.().catch(ignore)
  }
  let asking: Redis | undefined
  const disconnect = connector.disconnect.bind(connector)
  connector.disconnect = () => {
    disconnect()
    asking?.disconnect()
  }
  connector.connectToSentinel = (endpoint, options) => {
    // Only the connections that listen have options. The others ask once, and a process cannot end before
    // they are destroyed.
    if (!options) {
      asking = open(endpoint, { disconnectTimeout: 0 })
      return asking
    }
    hasNew = false
    const sentinel = open(endpoint, { ...options, ...LISTENING })
    /** Until then it may name the primary of before, as one that has just restarted does. */
    let hasHeard = false
    let hearing: Timer | undefined
    const askIfHeard = () => {
      if (hasHeard) void ask(endpoint)
    }
    sentinel.on('ready', () => {
      sentinel.subscribe(FOUND_SENTINEL).catch(ignore)
      hearing = clock.after(SENTINEL_HAS_HEARD, () => {
        hasHeard = true
        askIfHeard()
      })
    })
    sentinel.on('close', () => {
      hasHeard = false
      hearing?.cancel()
    })
    sentinel.on('message', (channel: string) => {
      if (channel !== FOUND_SENTINEL) return
      askIfHeard()
      // At first it calls the other one disconnected, and ioredis leaves that out.
      clock.after(SENTINEL_HAS_HEARD, askIfHeard)
    })
    return sentinel
  }
}
