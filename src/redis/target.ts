import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'
import { describe } from '../api/arguments'
import type { RedisSource } from '../api/redis-source'
import { type AskForCredentials, askFor } from './credentials'
import { isCluster, isRedis, isSomeClient, nodesOf, optionsOf } from './ioredis-instance'
import { isNodeRedis, readNodeRedis } from './node-redis'
import {
  CLUSTER,
  checkAddress,
  LOGIN,
  NODE,
  type Place,
  refuseUnknown,
  SERVER,
  SERVERS,
  take,
} from './options/allowed'
import { isPlainObject, present } from './options/checks'
import { parseRedisUrl } from './options/redis-url'

const GIVEN_CLUSTER: Place = { taken: { nodes: present, options: present }, ignored: [] }

/** The address of the server and how to log in, read from any form of the `redis` option. */
export type RedisTarget = {
  /** For messages: addresses only, never a credential. */
  readonly description: string
  /** Texts that must appear in no message. */
  readonly secrets: readonly string[]
  readonly connectTimeout: number
  /** For each connection. ioredis ignores `credentials`; `logIn` asks for them. */
  readonly options: RedisOptions & { readonly credentials?: AskForCredentials }
} & ({ readonly kind: 'standalone' | 'sentinel' } | ClusterTarget)

interface ClusterTarget {
  readonly kind: 'cluster'
  readonly nodes: ClusterNode[]
  readonly clusterOptions: ClusterOptions
}

const DEFAULT_CONNECT_TIMEOUT = 10_000

/**
 * Reads the caller's `redis` option. Throws TypeError or RangeError, without a credential in it, if it does not understand the
 * whole option. A guess could lock on another server or in another database than the caller means.
 */
export function resolveTarget(source: RedisSource): RedisTarget {
  if (typeof source === 'string') return single(parseRedisUrl(source, 'redis'))
  if (isUrl(source)) return single(parseRedisUrl(source.href, 'redis'))
  if (typeof source === 'object' && source !== null) {
    if (isCluster(source)) return cluster(nodesOf(source), source.options, false)
    if (isRedis(source)) return single(optionsOf(source))
    if (isNodeRedis(source)) return ofNodeRedis(source)
    if (isSomeClient(source))
      throw new TypeError(
        `redis is a client (${describe(source)}) that is not one of ioredis or node-redis: give the address it connects to`,
      )
  }
  if (!isPlainObject(source))
    throw new TypeError(
      `redis must be a URL, ioredis options, { nodes, options } or a client of ioredis or node-redis, got ${describe(source)}`,
    )
  if ('nodes' in source) return givenCluster(source)
  refuseUnknown(source, SERVER, 'redis')
  const target = single(source, true)
  // Last: what is refused says more than what is missing.
  checkAddress(source, 'redis', ['path', 'sentinels', 'Connector'])
  return target
}

function ofNodeRedis(client: object): RedisTarget {
  const { redis, credentials } = readNodeRedis(client)
  const { nodes, options } = redis
  const target = Array.isArray(nodes) ? cluster(nodes, options as ClusterOptions, false) : single(redis)
  return loggingIn(target, credentials)
}

/** Recognises a URL of another realm, too, as in tests with jsdom. */
function isUrl(source: unknown): source is URL {
  return Object.prototype.toString.call(source) === '[object URL]'
}

/** `isWritten`: by the caller. Otherwise they are those of an instance, with its defaults. */
function single(given: object, isWritten = false): RedisTarget {
  const options = take(given, SERVER, 'redis')
  const { sentinels } = options
  // Without this switch ioredis drops `tls` behind Sentinel, and sends the password in clear.
  if (sentinels && usesTls(options, isWritten)) options.enableTLSForSentinelMode = true
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

/** An instance has `enableTLSForSentinelMode: false` by default. In options of the caller it contradicts `tls`. */
function usesTls({ tls, enableTLSForSentinelMode: given }: RedisOptions, isWritten: boolean): boolean {
  if ((given && !tls) || (given === false && tls && isWritten))
    throw new TypeError(
      `redis.enableTLSForSentinelMode is ${given}, and redis.tls is ${tls ? '' : 'not '}given`,
    )
  return !!tls
}

/** The target with a name for its connections (CLIENT SETNAME). The name of the caller comes first, and the id stays findable. */
export function named(target: RedisTarget, id: string): RedisTarget {
  const { connectionName } = target.options
  return {
    ...target,
    options: { ...target.options, connectionName: connectionName ? `${connectionName}:${id}` : id },
  }
}

/** The target whose connections ask for credentials when they open. */
export function loggingIn(target: RedisTarget, credentials: (() => unknown) | undefined): RedisTarget {
  if (!credentials) return target
  const secrets = [...target.secrets]
  const ask = askFor(credentials, target.connectTimeout, secrets)
  return { ...target, secrets, options: { ...target.options, credentials: ask } }
}

function givenCluster(source: Record<string, unknown>): RedisTarget {
  refuseUnknown(source, GIVEN_CLUSTER, 'redis')
  const { nodes, options } = source
  if (!Array.isArray(nodes) || nodes.length === 0)
    throw new TypeError('redis.nodes must be an array that names at least one node of the cluster')
  const checked = checkedOptions(options, CLUSTER, 'redis.options')
  checkedOptions(checked.redisOptions, SERVERS, 'redis.options.redisOptions')
  return cluster(nodes, checked, true)
}

function checkedOptions(options: unknown, place: Place, where: string): Record<string, unknown> {
  if (options === undefined || options === null) return {}
  if (!isPlainObject(options))
    throw new TypeError(`${where} must be an object of options, got ${describe(options)}`)
  refuseUnknown(options, place, where)
  return options
}

/** `strict`: the caller wrote the nodes itself, so unknown options are errors. The nodes of an instance are not checked. */
function cluster(given: readonly unknown[], options: ClusterOptions, strict: boolean): RedisTarget {
  const shared = take(options.redisOptions ?? {}, SERVERS, 'redis.options.redisOptions')
  refuseDatabase(shared, 'redis.options.redisOptions')
  // Array.from, because `map` skips the holes of an array.
  const nodes = Array.from(given, (node, at) => parseNode(node, `redis.nodes[${at}]`, strict))
  // ioredis logs in to discovered nodes with these options only. The caller may have written them into the URL of a node.
  const entrance = nodes.find((node) => node.password) ?? nodes.find((node) => node.tls) ?? {}
  const each = { ...take(entrance, LOGIN, 'redis.nodes'), ...shared }
  return {
    kind: 'cluster',
    nodes,
    options: each,
    clusterOptions: take(options, CLUSTER, 'redis.options') as ClusterOptions,
    description: nodes
      .map(({ path, host, port }) => path ?? `${host ?? 'localhost'}:${port ?? 6379}`)
      .join(', '),
    secrets: [each, ...nodes].flatMap(secretsOf),
    connectTimeout: each.connectTimeout || DEFAULT_CONNECT_TIMEOUT,
  }
}

function parseNode(node: unknown, where: string, strict: boolean): RedisOptions {
  const options = nodeOptions(node, where)
  if (strict) {
    refuseUnknown(options, NODE, where)
    checkAddress(options, where, ['path'])
    refuseDatabase(options as RedisOptions, where)
  }
  return take(options, NODE, where)
}

function nodeOptions(node: unknown, where: string): object {
  if (typeof node === 'number') return { port: node }
  if (isUrl(node)) return parseRedisUrl(node.href, where)
  if (typeof node === 'string') {
    if (/^\d+$/.test(node)) return { port: node }
    const isAddress = /^(\[[^\]]+\]|[^\s/@?#:]+)(:\d+)?$/.test(node)
    return parseRedisUrl(isAddress ? `redis://${node}` : node, where)
  }
  if (isPlainObject(node)) return node
  throw new TypeError(`${where} must be a URL, a port or an object with host and port, got ${describe(node)}`)
}

function refuseDatabase({ db }: RedisOptions, where: string): void {
  if (Number(db ?? 0) !== 0)
    throw new TypeError(`${where}.db is not supported: a cluster has the database 0 only`)
}

function secretsOf(options: RedisOptions): string[] {
  return [options.password, options.sentinelPassword].filter((secret) => !!secret) as string[]
}
