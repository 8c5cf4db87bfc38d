import type { RedisOptions } from 'ioredis'
import { describe } from '../../api/arguments'
import * as check from './checks'
import { HINTS } from './hints'

/** A place for options: those that the client takes there, with a check for each, and those that it knows and ignores. */
export interface Place {
  readonly taken: Readonly<Record<string, check.Check>>
  readonly ignored: readonly string[]
}

/** What a client needs to be let in. */
export const LOGIN: Place = {
  taken: { username: check.text, password: check.text, tls: check.tls },
  ignored: [],
}

// The client takes only these options of a caller: the address of the server, and how to log in. The others change how
// commands are sent, and the client decides that itself. A commandTimeout, a key prefix or reads from replicas would break
// locks, and after a retry strategy that gives up the client would never reconnect.
const ADDRESS = { host: check.host, port: check.port, path: check.path }
const CONNECTION = {
  ...LOGIN.taken,
  family: check.family,
  // Servers count databases by an int.
  db: check.whole(0, 2 ** 31 - 1),
  keepAlive: check.milliseconds,
  noDelay: check.flag,
  connectTimeout: check.milliseconds,
  connectionName: check.text,
  clientInfoTag: check.text,
  sentinelUsername: check.text,
  sentinelPassword: check.text,
  sentinelTLS: check.tls,
  enableTLSForSentinelMode: check.flag,
  updateSentinels: check.flag,
  sentinelMaxConnections: check.whole(1, 1_000),
  natMap: check.present,
  Connector: check.callable,
  sentinelCommandTimeout: check.milliseconds,
  enableReadyCheck: check.flag,
}

const IGNORED = `autoPipeliningIgnoredCommands autoResendUnfulfilledCommands autoResubscribe blockingTimeout
  blockingTimeoutGrace commandQueue commandTimeout disableClientInfo disconnectTimeout enableAutoPipelining enableOfflineQueue
  failoverDetector himportFieldsets keyPrefix lazyConnect maxLoadingRetryTime maxRetriesPerRequest monitor offlineQueue
  preferredSlaves protocol readOnly reconnectOnError replyMapping retryStrategy role scripts sentinelReconnectStrategy
  sentinelRetryStrategy showFriendlyErrorStack socketTimeout stringNumbers`.split(/\s+/)

const IGNORED_OF_CLUSTER =
  `autoPipeliningIgnoredCommands clusterNodeRetryStrategy clusterRetryStrategy enableAutoPipelining
  enableOfflineQueue enableReadyCheck himportFieldsets keyPrefix lazyConnect maxRedirections redisOptions
  retryDelayOnClusterDown retryDelayOnFailover retryDelayOnMoved retryDelayOnTryAgain scaleReads scripts shardedSubscribers
  showFriendlyErrorStack`.split(/\s+/)

const SENTINEL: Place = {
  taken: { host: check.host, port: check.port, family: check.family },
  ignored: [],
}

/** A single server, or the servers behind Sentinel. */
export const SERVER: Place = {
  taken: { ...ADDRESS, ...CONNECTION, sentinels, name: check.primaryName },
  ignored: IGNORED,
}

/** The servers of a cluster: `redisOptions`. Their addresses come from its nodes. */
export const SERVERS: Place = {
  taken: CONNECTION,
  ignored: [...IGNORED, ...Object.keys(ADDRESS), 'sentinels', 'name'],
}

/** One of the nodes of a cluster that the caller gives. */
export const NODE: Place = {
  taken: { ...ADDRESS, ...LOGIN.taken },
  ignored: [...IGNORED, ...Object.keys(CONNECTION)],
}

/** The options of a cluster. */
export const CLUSTER: Place = {
  taken: {
    dnsLookup: check.callable,
    natMap: check.present,
    useSRVRecords: check.flag,
    resolveSrv: check.callable,
    slotsRefreshTimeout: check.milliseconds,
    slotsRefreshInterval: check.milliseconds,
  },
  ignored: IGNORED_OF_CLUSTER,
}

/** Returns the options that the client takes, checked. An option that is undefined or null counts as absent. */
export function take(given: object, { taken }: Place, where: string): RedisOptions {
  const options = given as Record<string, unknown>
  if (options.keyPrefix)
    throw new TypeError(
      'keyPrefix is not supported: it would reach keys but not channels. Use the nameMapper option, which maps both',
    )
  const names = Object.keys(taken).filter((name) => options[name] !== undefined && options[name] !== null)
  return Object.fromEntries(
    names.map((name) => [name, taken[name]!(options[name], `${where}.${name}`)]),
  ) as RedisOptions
}

/** Throws TypeError for an unknown option. */
export function refuseUnknown(given: object, { taken, ignored }: Place, where: string): void {
  const names = Object.keys(taken)
  for (const key of Object.keys(given))
    if (!names.includes(key) && !ignored.includes(key)) throw unknownOption(key, names, where)
}

export function unknownOption(key: string, names: readonly string[], where: string): TypeError {
  // A key can be any text, also a URL with a password.
  const name = /^\w{1,40}$/.test(key) ? ` ${where}.${key}` : ` in ${where}`
  const hint = HINTS.get(key)
  return new TypeError(`unknown option${name}${hint ? ` (${hint})` : ''}; known here: ${names.join(', ')}`)
}

/** Throws unless the options have a host, a port or one of `others`. A host must not be undefined. */
export function checkAddress(given: object, where: string, others: readonly string[]): void {
  const options = given as Record<string, unknown>
  const has = (name: string) => options[name] !== undefined && options[name] !== null
  if (others.some(has)) return
  if ('host' in options && !has('host'))
    throw new TypeError(`${where}.host is ${options.host}: is an environment variable missing?`)
  if (!has('host') && !has('port'))
    throw new TypeError(
      `${where} does not say where the server is: it needs one of ${['host', 'port', ...others].join(', ')}`,
    )
}

function sentinels(value: unknown, name: string): unknown {
  if (!Array.isArray(value) || value.length === 0)
    throw new TypeError(`${name} must be an array that names at least one sentinel`)
  // Array.from, because `map` skips the holes of an array.
  return Array.from(value, (sentinel: unknown, at) => {
    const where = `${name}[${at}]`
    if (!check.isPlainObject(sentinel))
      throw new TypeError(`${where} must be an object with host and port, got ${describe(sentinel)}`)
    if ('password' in sentinel || 'username' in sentinel)
      throw new TypeError(
        `${where}.password and username are unknown: give redis.sentinelPassword and sentinelUsername, for all of them`,
      )
    refuseUnknown(sentinel, SENTINEL, where)
    checkAddress(sentinel, where, [])
    return take(sentinel, SENTINEL, where)
  })
}
