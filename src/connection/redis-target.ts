import { type Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'

/** An ioredis Redis or Cluster of any version: told by what it can do, so that types of versions need not agree. */
export interface RedisInstance {
  readonly status: string
  readonly options: object
  disconnect(): void
  duplicate(...args: never[]): unknown
}

/** What `Redisson.create({ redis })` takes. */
export type RedisSource =
  | string
  | URL
  | RedisOptions
  | { nodes: ClusterNode[]; options?: ClusterOptions }
  | RedisInstance

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
// are sent, and that has to be ours (a commandTimeout, a key prefix or reads from replicas would break locks,
// and a retry strategy that gives up would leave a client that never comes back).
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
  'sentinelCommandTimeout',
] as const

const TAKEN_FROM_NODE = ['host', 'port', 'username', 'password', 'tls'] as const

const TAKEN_FROM_CLUSTER = [
  'dnsLookup',
  'natMap',
  'useSRVRecords',
  'resolveSrv',
  'slotsRefreshTimeout',
  'slotsRefreshInterval',
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
  if (source instanceof URL) return single(parseUrl(source.href))
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
  if (text.startsWith('/')) return parsedByIoredis(text)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new TypeError('redis is not a URL; expected redis://[user:password@]host:port[/db]')
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    throw new TypeError('redis must be a URL that begins with redis:// or rediss://')
  // A password cut short by a bare '/', '?' or '#' would show up as a part of the address.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@'))
    throw new TypeError('redis is not a valid URL: percent-encode the special characters of its password')
  return parsedByIoredis(text)
}

/** So that a URL or a path means here what it means there. */
function parsedByIoredis(text: string): RedisOptions {
  try {
    const parsed = new Redis(text, { lazyConnect: true })
    parsed.disconnect()
    return parsed.options
  } catch {
    // Its own error carries the text, and with it the password.
    throw new TypeError('redis is not a valid URL; expected redis://[user:password@]host:port[/db]')
  }
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
  const current = instance.nodes('all').map(({ options }) => pick(options, TAKEN_FROM_NODE))
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
    connectTimeout: options.connectTimeout || DEFAULT_CONNECT_TIMEOUT,
  }
}

function cluster(given: readonly ClusterNode[], options: ClusterOptions): RedisTarget {
  refuseKeyPrefix(options)
  refuseKeyPrefix(options.redisOptions ?? {})
  if (Number(options.redisOptions?.db ?? 0) !== 0)
    throw new TypeError('redisOptions.db is not supported: a cluster has the database 0 only')
  const nodes = given.map(parseNode)
  // ioredis asks nodes it discovers with these alone, though the caller may have put them into a node's URL.
  const credentials = pick(nodes.find((node) => node.password) ?? {}, ['username', 'password', 'tls'])
  const redisOptions = { ...credentials, ...pick(options.redisOptions ?? {}, TAKEN) }
  return {
    kind: 'cluster',
    nodes,
    options: { ...pick(options, TAKEN_FROM_CLUSTER), redisOptions },
    description: nodes.map(({ host, port }) => `${host ?? 'localhost'}:${port ?? 6379}`).join(', '),
    secrets: [redisOptions, ...nodes].flatMap(secretsOf),
    connectTimeout: redisOptions.connectTimeout || DEFAULT_CONNECT_TIMEOUT,
  }
}

function parseNode(node: ClusterNode): RedisOptions {
  if (typeof node === 'number') return { port: node }
  if (typeof node === 'string') return pick(parsedByIoredis(node), TAKEN_FROM_NODE)
  refuseKeyPrefix(node as RedisOptions)
  return pick(node as RedisOptions, TAKEN_FROM_NODE)
}

function secretsOf(options: RedisOptions): string[] {
  return [options.password, options.sentinelPassword].filter((secret) => !!secret) as string[]
}
