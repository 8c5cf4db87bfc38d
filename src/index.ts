export type * from './api/call-options'
export * from './api/client-state'
export * from './api/errors'
export * from './api/events'
export type { LockCalls } from './api/lock-calls'
export type { LockHold } from './api/lock-hold'
export type { Lockable } from './api/lockable'
export type { NameMapper, RedisCredentials, RedissonOptions, ShardedSubscriptionMode } from './api/options'
export { RateType } from './api/rate-limiter-arguments'
export type {
  InProcessServer,
  RedisClusterOptions,
  RedisInstance,
  RedisServerOptions,
  RedisSource,
  TlsSource,
} from './api/redis-source'
export { TimeUnit } from './api/time-unit'
export type { RLock } from './engine/rlock'
export type { RFairLock } from './locks/fair-lock'
export { type FencedLockHold, FencingTokenError, type RFencedLock } from './locks/fenced-lock'
export type { RMultiLock } from './locks/multi-lock'
export type { RReadWriteLock } from './locks/read-write-lock'
export type { RRedLock } from './locks/red-lock'
export type { RunOnceOptions, RunOnceTask } from './locks/run-once'
export {
  type BackOffPolicy,
  type ConstantBackOffOptions,
  constantBackOff,
  type ExponentialBackOffOptions,
  exponentialBackOff,
} from './locks/spin-lock'
export type { TokenLock } from './locks/token-lock'
export type { MultiLockHold } from './multi/members-handle'
export { Redisson, type RedissonClient } from './redisson'
export { type PingOptions, RedissonLifecycle, type ShutdownOptions } from './redisson-lifecycle'
export type { RCountDownLatch } from './synchronizers/count-down-latch'
export type { Permit } from './synchronizers/permits/permit'
export type { RPermitExpirableSemaphore } from './synchronizers/permits/rpermit-expirable-semaphore'
export type { RateLimiterConfig, RRateLimiter } from './synchronizers/rate-limiter'
export type { RSemaphore } from './synchronizers/semaphore'
