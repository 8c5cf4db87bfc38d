import type { ClusterOptions, RedisOptions } from 'ioredis'
import { describe } from '../../api/arguments'
import type { RedisSource } from '../../api/redis-source'
import { CLUSTER, NODE, type Place, read, SERVER, SERVERS } from './allowed-options'
import { type AskedWhenOpening, askForCredentials, askingForTls } from './ask-when-opening'
import { isCluster, isRedis, isSomeClient, nodesOf, selectedDatabase } from './ioredis-instance'
import { isNodeRedis, readNodeRedis } from './node-redis'
import { isPlainObject } from './option-checks'
import { parseRedisUrl } from './redis-url'

const GIVEN_CLUSTER: Place = { taken: ['nodes', 'options'], ignored: [] }

/** The address of the server and how to log in, read from any form of the `redis` option. */
export type RedisTarget = {
  /** For messages: addresses only, never a credential. */
  readonly description: string
  /** Texts that must appear in no message. */
  readonly secrets: readonly string[]
  readonly connectTimeout: number
  /** For each connection. */
  readonly options: RedisOptions & AskedWhenOpening
} & ({ readonly kind: 'standalone' | 'sentinel' } | ClusterTarget)

interface ClusterTarget {
  readonly kind: 'cluster'
  readonly nodes: RedisOptions[]
  readonly clusterOptions: ClusterOptions
}

const DEFAULT_CONNECT_TIMEOUT = 10_000

/**
 * Reads the caller's `redis` option. Throws TypeError or RangeError, without a credential in it, if it does
 * not understand the whole option. A guess could lock on another server or in another database than the
 * caller means.
 */
export function resolveTarget(source: RedisSource): RedisTarget {
  if (isUrl(source)) return single(parseRedisUrl(String(source), 'redis'))
  if (typeof source === 'object' && source !== null) {
    if (isCluster(source)) return cluster(nodesOf(source), source.options)
    if (isRedis(source)) return single({ ...source.options, db: selectedDatabase(source) })
    if (isNodeRedis(source)) return ofNodeRedis(source)
    if (isSomeClient(source))
      throw new TypeError(
        `redis is a client (${describe(source)}) that is not one of ioredis or node-redis: give the ` +
          'address it connects to. For tests without a server: inMemoryRedis() of @rlock/testing',
      )
  }
  if (!isPlainObject(source))
    throw new TypeError(
      'redis must be a URL, ioredis options, { nodes, options } or a client of ioredis or node-redis, got ' +
        `${describe(source)}`,
    )
  if ('nodes' in source) return givenCluster(source)
  return 'url' in source ? urlWithOptions(source) : single(source, true)
}

/** `{ url, tls }`: what a URL cannot say stands beside it. */
function urlWithOptions({ url, ...options }: Record<string, unknown>): RedisTarget {
  if (!isUrl(url))
    throw new TypeError(
      `redis.url must be a URL, got ${describe(url)}${url ? '' : ': is an environment variable missing?'}`,
    )
  const { tls, ...read } = parseRedisUrl(String(url), 'redis.url')
  const beside = Object.entries(options).filter(([, value]) => value !== undefined && value !== null)
  const names = beside.map(([name]) => name)
  const isSaid = (name: string) => ![undefined, ''].includes(read[name as 'host'])
  const twice = names.find((name) => ['host', 'path', 'sentinels'].includes(name) || isSaid(name))
  if (twice !== undefined)
    throw new TypeError(`redis.url and redis.${twice} say the same thing: keep one of them`)
  if (tls && 'tls' in options && options.tls === false)
    throw new TypeError('redis.url begins with rediss:// or valkeys://, and redis.tls is false')
  return single({ tls, ...read, ...Object.fromEntries(beside) }, true)
}

function ofNodeRedis(client: object): RedisTarget {
  const { redis, credentials } = readNodeRedis(client)
  const { nodes, options } = redis
  const target = Array.isArray(nodes) ? cluster(nodes, options as ClusterOptions) : single(redis)
  return loggingIn(target, credentials)
}

/** A text or a URL. Recognises a URL of another realm, too, as in tests with jsdom. */
function isUrl(source: unknown): source is string | URL {
  return typeof source === 'string' || Object.prototype.toString.call(source) === '[object URL]'
}

/** `isWritten`: by the caller. Otherwise they are those of an instance, with its defaults. */
function single(given: object, isWritten = false): RedisTarget {
  const options = read(given, SERVER, 'redis', isWritten)
  const { sentinels } = options
  if (sentinels && options.enableTLSForSentinelMode && !options.tls)
    throw new TypeError('redis.enableTLSForSentinelMode is true, and redis.tls is not given')
  // Without this switch ioredis drops `tls` behind Sentinel, and sends the password in clear.
  if (sentinels && options.tls) options.enableTLSForSentinelMode = true
  const description = sentinels
    ? `${options.name} by Sentinel at ${addresses(sentinels, 26379)}`
    : addresses([options], 6379)
  if (sentinels && !options.name)
    throw new TypeError('redis.name is missing: the name under which the sentinels know the primary')
  const connectTimeout = options.connectTimeout || DEFAULT_CONNECT_TIMEOUT
  return {
    kind: sentinels ? 'sentinel' : 'standalone',
    options: askingForTls(options, connectTimeout),
    description,
    secrets: secretsOf(options),
    connectTimeout,
  }
}

/** The address and the database as the options say. */
export function addressAndDatabase({ description, options }: RedisTarget): string {
  return `${description}/${options.db ?? 0}`
}

/** The target whose connections ask for credentials when they open. */
export function loggingIn(target: RedisTarget, credentials: (() => unknown) | undefined): RedisTarget {
  if (!credentials) return target
  const secrets = [...target.secrets]
  const ask = askForCredentials(credentials, target.connectTimeout, secrets)
  return { ...target, secrets, options: { ...target.options, credentials: ask } }
}

function givenCluster(source: object): RedisTarget {
  const { nodes, options } = read(source, GIVEN_CLUSTER, 'redis', true) as Record<string, unknown>
  if (!Array.isArray(nodes) || nodes.length === 0)
    throw new TypeError('redis.nodes must be an array that names at least one node of the cluster')
  return cluster(nodes, options as ClusterOptions | undefined, true)
}

function cluster(given: readonly unknown[], options: ClusterOptions = {}, isWritten = false): RedisTarget {
  const ofCluster = read(options, CLUSTER, 'redis.options', isWritten) as ClusterOptions
  const { redisOptions = {}, ...clusterOptions } = ofCluster
  const ofServers = 'redis.options.redisOptions'
  const shared = read(redisOptions, SERVERS, ofServers, isWritten)
  // Array.from, because `map` skips the holes of an array.
  const nodes = Array.from(given, (node, at) => {
    const own = parseNode(node, `redis.nodes[${at}]`, isWritten)
    // `rediss://` says nothing but that there is TLS.
    const isBare = shared.tls && own.tls && Object.keys(own.tls).length === 0
    return isBare ? { ...own, tls: shared.tls } : own
  })
  // ioredis logs in to discovered nodes with these options only. The caller may have written them into the
  // URL of a node.
  const entrance = nodes.find((node) => node.password) ?? nodes.find((node) => node.tls)
  const { host: _host, port: _port, path: _path, ...login } = entrance ?? {}
  const each = { ...login, ...shared }
  const connectTimeout = each.connectTimeout || DEFAULT_CONNECT_TIMEOUT
  return {
    kind: 'cluster',
    nodes: nodes.map((node) => askingForTls(node, connectTimeout)),
    options: askingForTls(each, connectTimeout),
    clusterOptions,
    description: addresses(nodes, 6379),
    secrets: [each, ...nodes].flatMap(secretsOf),
    connectTimeout,
  }
}

function parseNode(node: unknown, where: string, isWritten: boolean): RedisOptions {
  const options = nodeOptions(node, where)
  if (isWritten && Number(options.db ?? 0) !== 0)
    throw new TypeError(
      `${where}.db is the database of one node: give redis.options.redisOptions.db, for a cluster that has ` +
        'several',
    )
  return read(options, NODE, where, isWritten)
}

function nodeOptions(node: unknown, where: string): RedisOptions {
  if (typeof node === 'number') return { port: node }
  if (isUrl(node)) {
    const text = String(node)
    if (/^\d+$/.test(text)) return { port: Number(text) }
    const isAddress = /^(\[[^\]]+\]|[^\s/@?#:]+)(:\d+)?$/.test(text)
    return parseRedisUrl(isAddress ? `redis://${text}` : text, where)
  }
  if (isPlainObject(node)) return node
  throw new TypeError(`${where} must be a URL, a port or an object with host and port, got ${describe(node)}`)
}

function addresses(of: readonly RedisOptions[], defaultPort: number): string {
  return of.map(({ path, host = 'localhost', port = defaultPort }) => path ?? `${host}:${port}`).join(', ')
}

function secretsOf(options: RedisOptions): string[] {
  return [options.password, options.sentinelPassword].filter((secret) => !!secret) as string[]
}
