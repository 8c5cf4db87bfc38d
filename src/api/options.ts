import { quote } from '../util/quote'
import { checkOptions, leaseTime, positive } from './arguments'
import type { RedisSource } from './redis-source'

/** Maps the names that users write to the names in Redis; the counterpart of Redisson's NameMapper. */
export interface NameMapper {
  /** The name in Redis. */
  map(name: string): string
  /**
   * The reverse mapping. The client does not call it; the type has it, so that one object can serve other
   * code as well.
   */
  unmap?(name: string): string
}

/**
 * How a cluster publishes: `ON` sharded (Redis 7.0 and later), `OFF` plain, `AUTO` sharded if the cluster
 * can.
 */
export type ShardedSubscriptionMode = 'AUTO' | 'ON' | 'OFF'

/** How to log in to Redis. */
export interface RedisCredentials {
  /** The user; absent: `default`. */
  readonly username?: string | undefined
  /** Its password, or the token in its place. */
  readonly password: string
}

/** Options of `Redisson.create`. Names, defaults and units are those of Redisson. */
export interface RedissonOptions {
  /**
   * Where Redis is: a URL (`redis://[user:password@]host:port[/db]`, `rediss://` with TLS, `valkey://`,
   * `valkeys://`, `redis+unix:///path?db=1`, also as `redis+uds:`), ioredis options (with `sentinels` and
   * `name` for Sentinel), `{ nodes, options }` for a cluster, or an ioredis Redis or Cluster instance.
   *
   * From an instance the client takes addresses, credentials, TLS and db, and opens connections of its own.
   * The instance stays yours. Of ioredis's options the client uses those that say where the server is and how
   * to log in. The others have no effect. An option that ioredis does not have is a TypeError. An undefined
   * option counts as absent, except `host`: an undefined `host` is a TypeError. `keyPrefix` is a TypeError,
   * too; use `nameMapper`.
   */
  redis: RedisSource
  /**
   * Returns credentials that change, such as tokens of AWS IAM or Microsoft Entra ID. The client asks
   * whenever it opens a connection to a Redis server, also after the server has said that the login has ended
   * (NOAUTH, WRONGPASS). They replace `username` and `password` of `redis`. If the function throws, or has no
   * answer within the connect timeout, the client asks again after a second; calls meanwhile wait as they do
   * while Redis is away.
   * @example
   * ```ts
   * import { Redisson } from 'rlock'
   * let password = 'of today'
   * const rotating = await Redisson.create({
   *   redis: 'redis://127.0.0.1:6379',
   *   credentials: () => ({ username: 'default', password }),
   * })
   * password = 'of tomorrow'
   * ```
   */
  credentials?: (() => RedisCredentials | Promise<RedisCredentials>) | undefined
  /**
   * The lease of a lock that was acquired without `leaseTime`, in ms. The watchdog renews it at every third
   * of it.
   * @default 30000
   */
  lockWatchdogTimeout?: number | undefined
  /**
   * How long every call waits at most that gives no `waitTime` of its own and would wait without limit, in
   * ms: `lock()`, `acquire()`, `withLock()`, `latch.await()` and the like. Past it the call rejects with
   * LockTimeoutError. A call leaves it by `waitTime: Infinity`. Not in Redisson.
   * @default without limit
   */
  waitTime?: number | undefined
  /**
   * How long the watchdog renews a hold or a permit at most, in ms from its acquisition, where the call gives
   * neither `maxHoldTime` nor `leaseTime`. Not in Redisson.
   * @default without limit
   */
  maxHoldTime?: number | undefined
  /**
   * How many locks one call renews at most.
   * @default 100
   */
  lockWatchdogBatchSize?: number | undefined
  /**
   * With Sentinel or a cluster: whether an acquisition fails that no replica acknowledged.
   * @default true
   */
  checkLockSyncedSlaves?: boolean | undefined
  /**
   * With Sentinel or a cluster: whether an acquisition waits for no replica at all. The client then sends no
   * WAIT, and a failover may lose any lock. For servers that store writes durably before they answer, or
   * where speed counts more. Not in Redisson.
   * @default false
   */
  skipLockSyncedSlaves?: boolean | undefined
  /**
   * How long to wait for that acknowledgement, in ms. At most 30000, because a semaphore remembers a request
   * for a minute.
   * @default 1000
   */
  slavesSyncTimeout?: number | undefined
  /**
   * How long a call goes on while it meets only connection errors, silence or a shortage, in ms. Then it
   * rejects with RedisUnavailableError. At most 30000, because a semaphore remembers a request for a minute.
   * Not in Redisson.
   * @default 10000
   */
  unavailableAfter?: number | undefined
  /**
   * Which publish command is used in a cluster. Java and Node must use the same.
   * @default 'AUTO'
   */
  shardedSubscriptionMode?: ShardedSubscriptionMode | undefined
  /**
   * Maps each name once, for its keys and its channels.
   * @example
   * ```ts
   * import { Redisson } from 'rlock'
   * const prefixed = await Redisson.create({
   *   redis: 'redis://127.0.0.1:6379',
   *   nameMapper: { map: (name) => `shop:${name}` },
   * })
   * ```
   */
  nameMapper?: NameMapper | undefined
  /**
   * How inspectors such as `rlock ls` show this process; at most 200 characters. Not in Redisson.
   * @default the host name and the process id
   */
  label?: string | undefined
  /**
   * Whether the client answers inspectors: which locks it holds, which callers wait, and since when. It
   * answers on connections that it has anyway. Nothing is stored in Redis. Not in Redisson.
   * @default true
   */
  inspectable?: boolean | undefined
}

/** The options with their defaults. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>

/** Below it, in ms, the caller may have meant seconds. */
const SHORT_WATCHDOG = 1_000

const LONGEST_LABEL = 200
const KNOWN =
  `redis credentials lockWatchdogTimeout waitTime maxHoldTime lockWatchdogBatchSize checkLockSyncedSlaves
  skipLockSyncedSlaves slavesSyncTimeout unavailableAfter shardedSubscriptionMode nameMapper label
  inspectable`.split(/\s+/)

/** Checks the options and fills in the defaults; throws TypeError or RangeError. */
export function resolveOptions(options: RedissonOptions) {
  if (typeof options !== 'object' || options === null)
    throw new TypeError("Redisson.create expects options, such as { redis: 'redis://127.0.0.1:6379' }")
  checkOptions(options, KNOWN)
  if (options.redis === undefined)
    throw new TypeError('the redis option is missing: a URL, options or an instance')
  const { checkLockSyncedSlaves = true, skipLockSyncedSlaves = false } = options
  const { shardedSubscriptionMode = 'AUTO', credentials, nameMapper } = options
  if (credentials !== undefined && typeof credentials !== 'function')
    throw new TypeError('credentials must be a function that returns { username, password }')
  const { label, inspectable = true, waitTime = Number.POSITIVE_INFINITY } = options
  for (const [name, value] of Object.entries({ checkLockSyncedSlaves, skipLockSyncedSlaves, inspectable }))
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be a boolean`)
  if (label !== undefined && (typeof label !== 'string' || label.length > LONGEST_LABEL))
    throw new TypeError(`label must be a string of at most ${LONGEST_LABEL} characters`)
  if (!['AUTO', 'ON', 'OFF'].includes(shardedSubscriptionMode))
    throw new TypeError("shardedSubscriptionMode must be 'AUTO', 'ON' or 'OFF'")
  if (nameMapper !== undefined && typeof nameMapper?.map !== 'function')
    throw new TypeError('nameMapper must be an object with a map(name) method')
  const lockWatchdogTimeout = whole('lockWatchdogTimeout', options.lockWatchdogTimeout, 30_000)
  if (lockWatchdogTimeout < SHORT_WATCHDOG)
    process.emitWarning(
      `lockWatchdogTimeout is ${lockWatchdogTimeout} ms, so a pause of the process that is as long loses ` +
        'every lock. It is in ms, 30000 by default.',
      { code: 'RLOCK_SHORT_WATCHDOG' },
    )
  return {
    redis: options.redis,
    credentials,
    lockWatchdogTimeout,
    waitTime: waitTime === UNLIMITED ? UNLIMITED : whole('waitTime', waitTime, UNLIMITED),
    maxHoldTime: leaseTime(options.maxHoldTime, undefined, 'maxHoldTime'),
    lockWatchdogBatchSize: whole('lockWatchdogBatchSize', options.lockWatchdogBatchSize, 100),
    checkLockSyncedSlaves,
    skipLockSyncedSlaves,
    slavesSyncTimeout: whole('slavesSyncTimeout', options.slavesSyncTimeout, 1_000, LATEST_COPY),
    unavailableAfter: whole('unavailableAfter', options.unavailableAfter, 10_000, LATEST_COPY),
    shardedSubscriptionMode,
    label,
    inspectable,
    mapName: (name: string) => (nameMapper ? mapped(nameMapper, name) : name),
  }
}

const UNLIMITED = Number.POSITIVE_INFINITY

/**
 * The server remembers the answer to a request of a semaphore or a latch for a minute. A copy after that
 * would count twice.
 */
const LATEST_COPY = 30_000

function whole(name: string, given: unknown, fallback: number, most = Number.POSITIVE_INFINITY): number {
  const value = given === undefined ? fallback : Math.ceil(positive(name, given))
  if (value > most)
    throw new RangeError(
      `${name} must be at most ${most} ms, got ${value}: a call that was sent again later could be applied ` +
        'twice',
    )
  return value
}

function mapped(nameMapper: NameMapper, name: string): string {
  const result: unknown = nameMapper.map(name)
  if (typeof result !== 'string' || result === '')
    throw new TypeError(`nameMapper.map must give a string that is not empty, for ${quote(name)}`)
  if (!result.isWellFormed())
    throw new TypeError(
      `nameMapper.map must give well-formed Unicode, got ${quote(result)} for ${quote(name)}`,
    )
  return result
}
