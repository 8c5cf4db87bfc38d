import type { Redis, RedisOptions } from 'ioredis'
import type { Clock } from '../../util/clock'
import { random } from '../../util/random'
import { type Connector, ignore, type Primary } from './ioredis-internals'

// What a connection behind Sentinel needs of ioredis beyond its public events and options. Where another
// version of ioredis lacks it, a connection may stay on a primary that was replaced.

interface SentinelConnector extends Connector {
  /** The sentinels that it knows. `add` is false for one that it knows already. */
  readonly sentinelIterator?: { add(endpoint: unknown): boolean }
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

const primaries = new WeakMap<Redis, Primary | null>()

/** The address of the primary that a sentinel told to this connection last. */
export function primaryNamed(redis: Redis): string | undefined {
  const primary = primaries.get(redis)
  return primary ? `${primary.host}:${primary.port}` : undefined
}

/**
 * Keeps a connection subscribed at the sentinels after these have restarted, or were replaced by others.
 * ioredis subscribes once, when it connects. A switch may have been announced before a subscription, and the
 * sentinel that told the primary may not have heard of it. So each sentinel is asked for the primary, once it
 * must have heard. When one is gone, the others are asked for those that have come.
 */
export function stayWithSentinels(redis: Redis, clock: Clock): void {
  const { connector } = redis as unknown as { connector: SentinelConnector }
  const [open, resolve] = [connector.connectToSentinel?.bind(connector), connector.resolve?.bind(connector)]
  if (!open || !resolve) return
  /** The connections that listen, and their sentinels. */
  const listening = new Map<Redis, unknown>()
  /** It knows sentinels at which it does not listen. */
  let hasNew = false
  const { sentinelIterator } = connector
  const add = sentinelIterator?.add.bind(sentinelIterator)
  if (add)
    sentinelIterator!.add = (endpoint) => {
      const isNew = add(endpoint)
      hasNew ||= isNew
      return isNew
    }
  let connectedTo: Primary | null
  connector.resolve = async (endpoint) => {
    connectedTo = await resolve(endpoint)
    primaries.set(redis, connectedTo)
    return connectedTo
  }
  const ask = async (endpoint: unknown) => {
    const { stream } = redis
    const primary = await resolve(endpoint).catch(ignore)
    if (!primary || redis.stream !== stream || redis.status !== 'ready') return
    if (primary.host !== connectedTo?.host || primary.port !== connectedTo.port) redis.disconnect(true)
    else if (hasNew) connector.initFailoverDetector?.().catch(ignore)
  }
  const askAll = () => {
    for (const [each, endpoint] of listening) if (each.status === 'ready') void ask(endpoint)
  }
  connector.connectToSentinel = (endpoint, options) => {
    // Only the connections that listen have options.
    if (!options) return open(endpoint)
    hasNew = false
    const sentinel = open(endpoint, { ...options, ...LISTENING })
    listening.set(sentinel, endpoint)
    let isThere = false
    sentinel.on('ready', () => {
      isThere = true
      clock.after(SENTINEL_HAS_HEARD, () => ask(endpoint))
    })
    sentinel.on('close', () => {
      // It tries again and again to connect.
      if (!isThere) return
      isThere = false
      askAll()
      clock.after(SENTINEL_HAS_HEARD, askAll)
    })
    sentinel.on('end', () => listening.delete(sentinel))
    return sentinel
  }
}
