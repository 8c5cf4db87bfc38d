import { type Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'

/** What `Redisson.create({ redis })` takes. */
export type RedisSource =
  | string
  | RedisOptions
  | { nodes: ClusterNode[]; options?: ClusterOptions }
  | Redis
  | Cluster

/** Where the server is and how to get in, whatever form the caller gave it in. */
export type RedisTarget = {
  /** For messages: addresses only, never a credential. */
  readonly description: string
  /** What must appear in no message. */
  readonly secrets: readonly string[]
  readonly connectTimeout: number
} & (
  | { readonly kind: 'standalone' | 'sentinel'; readonly options: RedisOptions }
  | { readonly kind: 'cluster'; readonly nodes: ClusterNode[]; readonly options: ClusterOptions }
)

const DEFAULT_CONNECT_TIMEOUT = 10_000

// Of a caller's options only these are taken: who, where and how to get in. The rest shapes how commands
// are sent, and that has to be ours (a commandTimeout, a key prefix or reads from replicas would break locks).
const TAKEN = [
  'host',
  'port',
  'path',
  'family',
  'username',
  'password',
  'db',
  'tls',
  'keepAlive',
  'noDelay',
  'connectTimeout',
  'connectionName',
  'clientInfoTag',
  'sentinels',
  'name',
  'sentinelUsername',
  'sentinelPassword',
  'sentinelTLS',
  'enableTLSForSentinelMode',
  'updateSentinels',
  'sentinelMaxConnections',
  'natMap',
  'Connector',
  'retryStrategy',
  'sentinelRetryStrategy',
  'sentinelCommandTimeout',
] as const

const TAKEN_FROM_CLUSTER = [
  'dnsLookup',
  'natMap',
  'useSRVRecords',
  'resolveSrv',
  'slotsRefreshTimeout',
  'slotsRefreshInterval',
  'clusterRetryStrategy',
] as const

function pick<T extends object>(source: T, names: readonly string[]): Partial<T> {
  const picked: Record<string, unknown> = {}
  for (const name of names) {
    const value = (source as Record<string, unknown>)[name]
    if (value !== undefined && value !== null) picked[name] = value
  }
  return picked as Partial<T>
}

/** Reads the caller's `redis` option; throws TypeError, without a credential in it, where it makes no sense. */
export function resolveTarget(source: RedisSource): RedisTarget {
  if (typeof source === 'string') return single(parseUrl(source))
  if (source === null || typeof source !== 'object')
    throw new TypeError('redis must be a URL, ioredis options, { nodes, options } or an ioredis instance')
  if (isCluster(source)) return fromCluster(source)
  if (isRedis(source)) return fromRedis(source)
  if ('nodes' in source) {
    if (!Array.isArray(source.nodes) || source.nodes.length === 0)
      throw new TypeError('redis.nodes must name at least one node of the cluster')
    return cluster(source.nodes, source.options ?? {})
  }
  return single(source as RedisOptions)
}

function parseUrl(text: string): RedisOptions {
  if (text.startsWith('/')) return { path: text }
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new TypeError('redis is not a URL; expected redis://[user:password@]host:port[/db]')
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    throw new TypeError(`redis must be a redis:// or rediss:// URL, not ${url.protocol}//`)
  // Parsed by ioredis itself, so that a URL means here what it means there.
  const parsed = new Redis(text, { lazyConnect: true })
  parsed.disconnect()
  return parsed.options
}

function isCluster(source: object): source is Cluster {
  return (source as { isCluster?: unknown }).isCluster === true
}

function isRedis(source: object): source is Redis {
  return typeof (source as { duplicate?: unknown }).duplicate === 'function' && 'options' in source
}

function fromRedis(redis: Redis): RedisTarget {
  // The database it works in now, where the caller selected another since it connected.
  const selected = (redis as unknown as { condition?: { select?: number } }).condition?.select
  return single(selected === undefined ? redis.options : { ...redis.options, db: selected })
}

function fromCluster(instance: Cluster): RedisTarget {
  const current = instance.nodes('all').map(({ options }) => ({ host: options.host!, port: options.port! }))
  const startup = (instance as unknown as { startupNodes: ClusterNode[] }).startupNodes
  return cluster(current.length > 0 ? current : startup, instance.options)
}

function refuseKeyPrefix(options: { keyPrefix?: unknown }) {
  if (options.keyPrefix)
    throw new TypeError(
      'keyPrefix is not supported: it would reach keys but not channels. Use the nameMapper option, which maps both',
    )
}

function single(given: RedisOptions): RedisTarget {
  refuseKeyPrefix(given)
  const options = pick(given, TAKEN)
  const { sentinels } = options
  const description = sentinels
    ? `${options.name ?? 'the primary'} by Sentinel at ${sentinels.map((s) => `${s.host ?? 'localhost'}:${s.port ?? 26379}`).join(', ')}`
    : (options.path ?? `${options.host ?? 'localhost'}:${options.port ?? 6379}`)
  if (sentinels && !options.name)
    throw new TypeError('redis.name is missing: the name under which the sentinels know the primary')
  return {
    kind: sentinels ? 'sentinel' : 'standalone',
    options,
    description,
    secrets: secretsOf(options),
    connectTimeout: options.connectTimeout ?? DEFAULT_CONNECT_TIMEOUT,
  }
}

function cluster(nodes: ClusterNode[], given: ClusterOptions): RedisTarget {
  refuseKeyPrefix(given)
  const redisOptions = pick(given.redisOptions ?? {}, TAKEN)
  refuseKeyPrefix(given.redisOptions ?? {})
  return {
    kind: 'cluster',
    nodes,
    options: { ...pick(given, TAKEN_FROM_CLUSTER), redisOptions },
    description: nodes.map(describeNode).join(', '),
    secrets: [
      ...secretsOf(redisOptions),
      ...nodes.flatMap((node) => (typeof node === 'string' ? secretsOfUrl(node) : secretsOf(node as object))),
    ],
    connectTimeout: redisOptions.connectTimeout ?? DEFAULT_CONNECT_TIMEOUT,
  }
}

function describeNode(node: ClusterNode): string {
  if (typeof node === 'number') return `localhost:${node}`
  if (typeof node === 'object') return `${node.host ?? 'localhost'}:${node.port ?? 6379}`
  try {
    return new URL(node).host
  } catch {
    return 'a cluster node'
  }
}

function secretsOf(options: RedisOptions): string[] {
  return [options.password, options.sentinelPassword].filter((secret) => !!secret) as string[]
}

function secretsOfUrl(text: string): string[] {
  try {
    const { password } = new URL(text)
    return password ? [password, decodeURIComponent(password)] : []
  } catch {
    return []
  }
}
