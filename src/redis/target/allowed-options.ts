import type { RedisOptions } from 'ioredis'
import { describe } from '../../api/arguments'
import * as check from './option-checks'

/** A place for options: those that the client takes there, and those that it knows and ignores. */
export interface Place {
  readonly taken: readonly string[]
  readonly ignored: readonly string[]
  /** What says where the server is, beside host and port; absent: the options need not say it. */
  readonly addresses?: readonly string[]
}

const LOGIN_OPTIONS = ['username', 'password', 'tls']
const ADDRESS = ['host', 'port', 'path']
// The client takes only these options of a caller: the address of the server, and how to log in. The others
// change how commands are sent, and the client decides that itself. A commandTimeout, a key prefix or reads
// from replicas would break locks, and after a retry strategy that gives up the client would never reconnect.
const CONNECTION = LOGIN_OPTIONS.concat(
  `connectionName clientInfoTag sentinelUsername sentinelPassword keepAlive connectTimeout
  sentinelCommandTimeout noDelay enableTLSForSentinelMode updateSentinels
  family db sentinelTLS sentinelMaxConnections natMap Connector`.split(/\s+/),
)

const time = check.whole(0, Number.MAX_SAFE_INTEGER)
/**
 * Checks of values that ioredis would take in silence: it would connect to another server, or not in time.
 */
const CHECKS: Readonly<Record<string, check.Check>> = {
  host: check.host,
  path: check.path,
  name: check.primaryName,
  port: check.whole(1, 65_535),
  // Servers count databases by an int.
  db: check.whole(0, 2 ** 31 - 1),
  family: check.whole(0, 6),
  sentinels,
  keepAlive: time,
  connectTimeout: time,
  sentinelCommandTimeout: time,
  slotsRefreshTimeout: time,
  slotsRefreshInterval: time,
}

const IGNORED = `autoPipeliningIgnoredCommands autoResendUnfulfilledCommands autoResubscribe
  blockingTimeout blockingTimeoutGrace commandQueue commandTimeout disableClientInfo disconnectTimeout
  enableAutoPipelining enableOfflineQueue enableReadyCheck failoverDetector himportFieldsets keyPrefix
  lazyConnect maxLoadingRetryTime maxRetriesPerRequest monitor offlineQueue preferredSlaves protocol
  readOnly reconnectOnError replyMapping retryStrategy role scripts sentinelReconnectStrategy
  sentinelRetryStrategy showFriendlyErrorStack socketTimeout stringNumbers`.split(/\s+/)

const IGNORED_OF_CLUSTER =
  `clusterNodeRetryStrategy clusterRetryStrategy maxRedirections retryDelayOnClusterDown
  retryDelayOnFailover retryDelayOnMoved retryDelayOnTryAgain scaleReads shardedSubscribers`.split(/\s+/)

const SENTINEL: Place = { taken: ['host', 'port', 'family'], ignored: [], addresses: [] }

/** A single server, or the servers behind Sentinel. */
export const SERVER: Place = {
  taken: [...ADDRESS, ...CONNECTION, 'sentinels', 'name'],
  ignored: IGNORED,
  addresses: ['path', 'sentinels', 'Connector'],
}

/** The servers of a cluster: `redisOptions`. Their addresses come from its nodes. */
export const SERVERS: Place = { taken: CONNECTION, ignored: [...IGNORED, ...ADDRESS, 'sentinels', 'name'] }

/** One of the nodes of a cluster that the caller gives. */
export const NODE: Place = {
  taken: [...ADDRESS, ...LOGIN_OPTIONS],
  ignored: [...IGNORED, ...CONNECTION],
  addresses: ['path'],
}

/** The options of a cluster. */
export const CLUSTER: Place = {
  taken:
    'dnsLookup resolveSrv slotsRefreshTimeout slotsRefreshInterval natMap useSRVRecords redisOptions'.split(
      ' ',
    ),
  ignored: [...IGNORED, ...IGNORED_OF_CLUSTER],
}

/**
 * Returns the options that the client takes, checked. An option that is undefined or null counts as absent.
 * `isWritten`: by the caller. Then unknown options and a missing address are errors. In the options of an
 * instance they are not.
 */
export function read(given: unknown, place: Place, where: string, isWritten: boolean): RedisOptions {
  if (!check.isPlainObject(given))
    throw new TypeError(`${where} must be an object of options, got ${describe(given)}`)
  const { taken: names, ignored, addresses } = place
  for (const key of isWritten ? Object.keys(given) : [])
    if (!names.includes(key) && !ignored.includes(key)) throw unknownOption(key, names, where)
  if (given.keyPrefix)
    throw new TypeError(
      'keyPrefix is not supported: it would reach keys but not channels. Use the nameMapper option, which ' +
        'maps both',
    )
  const present = names.filter((name) => given[name] !== undefined && given[name] !== null)
  const entries = present.map((name) => {
    const value = given[name]
    return [name, CHECKS[name] ? CHECKS[name](value, `${where}.${name}`) : value]
  })
  // Last: what is refused says more than what is missing.
  if (isWritten && addresses) checkAddress(given, present, where, addresses)
  return Object.fromEntries(entries)
}

export function unknownOption(key: string, names: readonly string[], where: string): TypeError {
  // A key can be any text, also a URL with a password.
  const name = /^\w{1,40}$/.test(key) ? ` ${where}.${key}` : ` in ${where}`
  const hint = /^(ur[il]|connectionString)$/.test(key) ? ' (give the URL itself: { redis: url })' : ''
  return new TypeError(`unknown option${name}${hint}; known here: ${names.join(', ')}`)
}

/** Throws unless the options have a host, a port or one of `others`. A host must not be undefined. */
function checkAddress(given: object, present: readonly string[], where: string, others: readonly string[]) {
  if (present.some((name) => others.includes(name))) return
  if ('host' in given && !present.includes('host'))
    throw new TypeError(`${where}.host is ${given.host}: is an environment variable missing?`)
  if (!present.includes('host') && !present.includes('port'))
    throw new TypeError(
      `${where} does not say where the server is: it needs one of ${['host', 'port', ...others].join(', ')}`,
    )
}

function sentinels(value: unknown, name: string): unknown {
  if (!Array.isArray(value) || value.length === 0)
    throw new TypeError(`${name} must be an array that names at least one sentinel`)
  // Array.from, because `map` skips the holes of an array.
  return Array.from(value, (sentinel: unknown, at) => read(sentinel, SENTINEL, `${name}[${at}]`, true))
}
