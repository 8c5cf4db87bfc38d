import type { RedisOptions } from 'ioredis'
import type { RedisTarget } from '../target'

/** What every connection of ours has in common, whatever the caller's own ioredis options say. */
const OWN_OPTIONS = {
  lazyConnect: true,
  replyMapping: 'legacy',
  role: 'master',
  enableAutoPipelining: false,
  // Until the client is there; then see `stopResending`.
  maxRetriesPerRequest: null,
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  disconnectTimeout: 500,
  // How long loading will take is the server's guess, and that may be off by any amount.
  maxLoadingRetryTime: 250,
  retryStrategy: (times: number) =>
    Math.min(50 * 2 ** Math.min(times, 10), 1_000) * (0.75 + Math.random() / 2),
  // A primary that became a replica: connect anew, to where the name or the sentinels point now. Servers
  // before 7.0 wrap what a script met: "ERR Error running script (…): -READONLY …".
  reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message),
} as const satisfies RedisOptions

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'> & { replyMapping: 'legacy' }

/** Further options of a connection behind Sentinel. */
const SENTINEL_OPTIONS = {
  failoverDetector: true,
  // A sentinel that hangs must not keep us from asking the next one.
  sentinelCommandTimeout: 2_000,
} as const satisfies RedisOptions

/** Options for a connection of its own to the target (or to one node of it). */
export function connectionOptions(target: RedisTarget, override: RedisOptions = {}): ConnectionOptions {
  const given = target.kind === 'cluster' ? (target.options.redisOptions ?? {}) : target.options
  return {
    ...OWN_OPTIONS,
    ...(target.kind === 'sentinel' ? SENTINEL_OPTIONS : {}),
    ...given,
    ...override,
    replyMapping: 'legacy',
  }
}
