export type { ClientSource } from './client-source'
export { getRedissonToken, InjectRedisson } from './inject'
export { LockTimeoutFilter } from './lock-timeout-filter'
export {
  type Placement,
  RedissonModule,
  type RedissonModuleAsyncOptions,
  type RedissonModuleOptions,
} from './module'
export { RunOnce, type RunOnceDecoratorOptions } from './run-once'
export { WithLock, type WithLockDecoratorOptions } from './with-lock'
