export type { LockOptions, TryLockOptions, UnlockOptions, WithLockOptions } from './api/arguments'
export {
  IllegalMonitorStateError,
  LockLostError,
  LockNotReplicatedError,
  RedissonError,
  RedissonShutdownError,
  RedisUnavailableError,
  WrongTypeError,
} from './api/errors'
export type { LockLostEvent, RedissonEvents, RenewalFailedEvent } from './api/events'
export type { LockHold } from './api/lock-hold'
export type { RLock } from './api/rlock'
export type { RReadWriteLock } from './api/rread-write-lock'
export { TimeUnit } from './api/time-unit'
export type { RedisInstance, RedisSource } from './connection/redis-target'
export { Redisson, type ShutdownOptions } from './redisson'
export type { NameMapper, RedissonOptions, ShardedSubscriptionMode } from './redisson-options'
