import type { RedisOptions } from 'ioredis'
import { random } from '../../util/random'
import { isLogin } from '../reply/errors'
import type { RedisTarget } from '../target/target'

/** Options of every connection of the client. They do not depend on the ioredis options of the caller. */
const OWN_OPTIONS = {
  lazyConnect: true,
  enableReadyCheck: true,
  role: 'master',
  enableAutoPipelining: false,
  // These values apply until the client has connected. Then `stopResending` changes them.
  maxRetriesPerRequest: null,
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  disconnectTimeout: 500,
  // These two matter behind Sentinel only. If a sentinel hangs, the client asks the next one after this time.
  failoverDetector: true,
  sentinelCommandTimeout: 2_000,
  // The server only estimates how long it will load, so the client asks again this often.
  maxLoadingRetryTime: 250,
  retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), 1_000) * (0.75 + random() / 2),
  // The primary became a replica: connects again, to the current address of the name or of the sentinels.
  // Servers before 7.0 wrap the error of a script: "ERR Error running script (…): -READONLY …". After NOAUTH
  // a new connection logs in again.
  reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message) || isLogin(error),
} as const satisfies RedisOptions

/** The options of a connection to the target, or to one node of it. */
export function connectionOptions(
  { options }: RedisTarget,
  override: RedisOptions = {},
): RedisOptions & { replyMapping: 'legacy' } {
  return { ...OWN_OPTIONS, ...options, ...override, replyMapping: 'legacy' }
}
