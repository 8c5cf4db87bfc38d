/** Redisson's own setting names; what is absent keeps Redisson's default. */
export interface RedissonSettings {
  mode?: 'standalone' | 'sentinel' | 'cluster' | undefined
  /** `host:port` or a URL, one or more. */
  addresses: readonly string[]
  masterName?: string | undefined
  username?: string | undefined
  password?: string | undefined
  sentinelPassword?: string | undefined
  database?: number | undefined
  lockWatchdogTimeout?: number | undefined
  lockWatchdogBatchSize?: number | undefined
  checkLockSyncedSlaves?: boolean | undefined
  slavesSyncTimeout?: number | undefined
  /** How long a waiter for a fair lock keeps its place, in ms; since 3.46.0. */
  fairLockWaitTimeout?: number | undefined
  shardedSubscriptionMode?: 'AUTO' | 'ON' | 'OFF' | undefined
  /** A name mapper that puts this before every name but the test's own counters and logs. */
  namePrefix?: string | undefined
  /** `host:port` as announced by a node, to `host:port` as reachable from here. */
  natMap?: Record<string, string> | undefined
  /** MASTER unless said otherwise: what a test reads must not be a replica's past. */
  readMode?: 'MASTER' | 'SLAVE' | 'MASTER_SLAVE' | undefined
  timeout?: number | undefined
  connectTimeout?: number | undefined
  retryAttempts?: number | undefined
  retryInterval?: number | undefined
  pingConnectionInterval?: number | undefined
  scanInterval?: number | undefined
}

/** A URL stands for a single server, its credentials and its database number. */
export function redissonSettings(redis: string | RedissonSettings): RedissonSettings {
  if (typeof redis !== 'string') return redis
  const url = new URL(redis)
  return {
    addresses: [`${url.protocol}//${url.host}`],
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    database: Number(url.pathname.slice(1) || 0),
  }
}
