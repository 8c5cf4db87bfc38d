/**
 * The entry `rlock/internal`: what the other packages of this repository need of rlock beside its API. Those packages
 * have the same version as rlock. For everyone else: it has no type declarations, and it changes without notice.
 *
 * It is loaded from the same code as `rlock`, so that classes and process-wide state exist once.
 */
export { checkOptions } from './api/arguments'
export { IN_PROCESS_SERVER, type InProcessServer } from './api/redis-source'
export type { ConnectedClient, Connections, Server } from './client/connections'
export { lockChannel } from './locks/hash-lock-scripts'
export { readTimeoutParts, readWriteLockChannel } from './locks/read-write-side'
export { tokenLockChannel } from './locks/token-lock'
export { processState } from './ownership/process-state'
export { reachedAt } from './redis/cluster-nodes'
export { ClusterSubscriber } from './redis/cluster-subscriber'
export { CommandConnection } from './redis/command-connection'
export { connectOrFail } from './redis/connect'
export { withoutSecrets } from './redis/errors'
export { ConnectionFence } from './redis/fencing/connection-fence'
export { BrokenConnections } from './redis/fencing/fence-states'
export { pingOrDisconnect } from './redis/health-check'
export * from './redis/names'
export { openChecked, openNode } from './redis/node-connection'
export { connectionOptions } from './redis/options/connection-options'
export { parseRedisUrl } from './redis/options/redis-url'
export { OutageReporter } from './redis/outage-reporter'
export { choosePublish } from './redis/pubsub'
export { reconnectUnless } from './redis/reconnect'
export { type ChannelEvents, type ChannelSource, SubscriberConnection } from './redis/subscriber'
export { loggingIn, named, type RedisTarget, resolveTarget } from './redis/target'
export { luaSources } from './scripts/lua.generated'
export { type Script, type ScriptName, script } from './scripts/script'
export type { ScriptTransport, SentScript } from './scripts/transport'
export { LATCH_CHANNEL, latchChannel } from './synchronizers/count-down-latch'
export { semaphoreChannel } from './synchronizers/permits-attempt'
export { outsideRequests } from './util/async-context'
export { type Clock, type Moment, systemClock, type Timer } from './util/clock'
export { random, randomUuid } from './util/random'
export { withTimeout } from './util/timeout'
export {
  clearTimeout,
  dateNow,
  nextTick,
  performanceNow,
  queueMicrotask,
  setImmediate,
  setTimeout,
} from './util/timers'
