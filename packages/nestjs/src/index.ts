export type { ClientSource } from './inject'
export { getRedissonToken, InjectRedisson } from './inject'
export { LockTimeoutFilter } from './lock-timeout-filter'
export {
  type Placement,
  RedissonModule,
  type RedissonModuleAsyncOptions,
  type RedissonModuleOptions,
} from './module'
export { RunOnce, type RunOnceDecoratorOptions, WithLock, type WithLockDecoratorOptions } from './with-lock'
