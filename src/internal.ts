/**
 * The entry `rlock/internal`: what the other packages of this repository need of rlock beside its API. Those
 * packages have the same version as rlock. For everyone else: it has no type declarations, and it changes
 * without notice.
 *
 * @rlock/recipes makes objects of its own kinds from it, as src/synchronizers does. Three things are enough
 * for that: a script of its own (`ScriptExecutor.run`), waiting in a queue (`Attempt`, `WaitTarget`,
 * `Admission`), and a lease that is renewed (`Lease`, `Renewal`). `clientOf` returns the client that has
 * them.
 *
 * It is loaded from the same code as `rlock`, so that classes and process-wide state exist once.
 */
export { argumentsReader, checkOptions, positive, wholeNumber } from './api/arguments'
export { IN_PROCESS_SERVER, type InProcessServer } from './api/redis-source'
export type { Client } from './client/client'
export type { Connections, Server } from './client/connections'
export { keyOf } from './client/object-name'
export { Lease, type LossReason } from './leases/lease'
export { LeaseBook } from './leases/lease-book'
export type { Leased, Renewal } from './leases/leased'
export type { Orphan } from './leases/orphan-releaser'
export { lockChannel } from './locks/hash-lock-kind'
export { readTimeoutParts, readWriteLockChannel } from './locks/read-write-side'
export { tokenLockChannel } from './locks/token-lock'
export { ownerField } from './ownership/owner-field'
export { processState } from './ownership/process-state'
export { reachedAt } from './redis/connect/cluster-nodes'
export { connectOrFail } from './redis/connect/connect'
export { pingOrDisconnect } from './redis/connect/health-check'
export { handshakes } from './redis/connect/ioredis-internals'
export { openChecked, openNode } from './redis/connect/node-connection'
export { reconnectUnless } from './redis/connect/reconnect'
export { ClusterSubscriber } from './redis/listen/cluster-subscriber'
export { INSPECT_CHANNEL } from './redis/listen/inspection-channel'
export { choosePublish } from './redis/listen/pubsub'
export { type ChannelSource, SubscriberConnection } from './redis/listen/subscriber'
export { ReplicaAckBatcher } from './redis/replica-ack/batcher'
export { lacksScripts, withoutSecrets } from './redis/reply/errors'
export type { ChannelEvents, ConnectedClient } from './redis/reports/connected-client'
export { OutageReporter } from './redis/reports/outage-reporter'
export { CommandConnection, type SentScript } from './redis/send/command-connection'
export { BrokenConnections, Fences } from './redis/send/fences'
export { named } from './redis/target/connection-name'
export { parseRedisUrl } from './redis/target/redis-url'
export { loggingIn, type RedisTarget, resolveTarget } from './redis/target/target'
export { clientOf } from './redisson-lifecycle'
export * from './scripts/key-names'
export { luaSources } from './scripts/lua.generated'
export { type Script, type ScriptName, script } from './scripts/script'
export type { AnyScriptCall, ScriptCall } from './scripts/script-call'
export type { ScriptTransport } from './scripts/transport'
export { semaphoreChannel } from './synchronizers/base-permits-attempt'
export { LATCH_CHANNEL, latchChannel } from './synchronizers/count-down-latch'
export { rateLimiterChannel } from './synchronizers/rate-limiter'
export { untilRecheck } from './synchronizers/synchronizer'
export { onAbort } from './util/abort'
export { outsideRequests } from './util/async-context'
export { type Clock, type Moment, systemClock, type Timer } from './util/clock'
export { quote } from './util/quote'
export { random, randomHex } from './util/random'
export { withTimeout } from './util/timeout'
export * from './util/timers'
export {
  Admission,
  type Next,
  shared,
  type TryReply,
  type Waiters,
  type WaitTarget,
} from './waiting/admission'
export { type Attempt, blocked, type Outcome, type WaitResult } from './waiting/attempt'
export { timedOut } from './waiting/wait-errors'
