import type { ClusterOptions, RedisOptions } from 'ioredis'

// The client takes only these options of a caller: the address of the server, and how to log in. The others change how
// commands are sent, and the client decides that itself. A commandTimeout, a key prefix or reads from replicas would break
// locks, and after a retry strategy that gives up the client would never reconnect.
export const TAKEN = [
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
  'enableReadyCheck',
] as const satisfies readonly (keyof RedisOptions)[]

/** The other options of ioredis 5 and 6: accepted, without effect. The compiler checks that none is missing. */
const NOT_TAKEN = {
  autoPipeliningIgnoredCommands: 0,
  autoResendUnfulfilledCommands: 0,
  autoResubscribe: 0,
  blockingTimeout: 0,
  blockingTimeoutGrace: 0,
  commandQueue: 0,
  commandTimeout: 0,
  disableClientInfo: 0,
  disconnectTimeout: 0,
  enableAutoPipelining: 0,
  enableOfflineQueue: 0,
  failoverDetector: 0,
  himportFieldsets: 0,
  keyPrefix: 0,
  lazyConnect: 0,
  maxLoadingRetryTime: 0,
  maxRetriesPerRequest: 0,
  monitor: 0,
  offlineQueue: 0,
  preferredSlaves: 0,
  protocol: 0,
  readOnly: 0,
  reconnectOnError: 0,
  replyMapping: 0,
  retryStrategy: 0,
  role: 0,
  scripts: 0,
  sentinelReconnectStrategy: 0,
  sentinelRetryStrategy: 0,
  showFriendlyErrorStack: 0,
  socketTimeout: 0,
  stringNumbers: 0,
} satisfies Record<Exclude<keyof RedisOptions, (typeof TAKEN)[number]>, 0>

export const KNOWN: readonly string[] = [...TAKEN, ...Object.keys(NOT_TAKEN)]

export const TAKEN_FROM_NODE = ['host', 'port', 'path', 'username', 'password', 'tls'] as const

export const TAKEN_FROM_SENTINEL = ['host', 'port', 'family'] as const

const ADDRESS = ['host', 'port', 'path', 'sentinels', 'name']

/** The options that the client takes for the servers of a cluster. Their addresses come from its nodes. */
export const TAKEN_FOR_NODES = TAKEN.filter((name) => !ADDRESS.includes(name))

export const TAKEN_FROM_CLUSTER = [
  'dnsLookup',
  'natMap',
  'useSRVRecords',
  'resolveSrv',
  'slotsRefreshTimeout',
  'slotsRefreshInterval',
  'enableReadyCheck',
] as const satisfies readonly (keyof ClusterOptions)[]

const NOT_TAKEN_FROM_CLUSTER = {
  autoPipeliningIgnoredCommands: 0,
  clusterNodeRetryStrategy: 0,
  clusterRetryStrategy: 0,
  enableAutoPipelining: 0,
  enableOfflineQueue: 0,
  himportFieldsets: 0,
  keyPrefix: 0,
  lazyConnect: 0,
  maxRedirections: 0,
  redisOptions: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnFailover: 0,
  retryDelayOnMoved: 0,
  retryDelayOnTryAgain: 0,
  scaleReads: 0,
  scripts: 0,
  shardedSubscribers: 0,
  showFriendlyErrorStack: 0,
} satisfies Record<Exclude<keyof ClusterOptions, (typeof TAKEN_FROM_CLUSTER)[number]>, 0>

export const KNOWN_OF_CLUSTER: readonly string[] = [
  ...TAKEN_FROM_CLUSTER,
  ...Object.keys(NOT_TAKEN_FROM_CLUSTER),
]
