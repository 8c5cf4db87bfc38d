export { getRedissonToken, InjectRedisson } from './nestjs/inject'
export {
  type ClientSource,
  type Placement,
  RedissonModule,
  type RedissonModuleAsyncOptions,
  type RedissonModuleOptions,
} from './nestjs/module'
export { RunOnce, type RunOnceDecoratorOptions } from './nestjs/run-once'
export { WithLock, type WithLockDecoratorOptions } from './nestjs/with-lock'
