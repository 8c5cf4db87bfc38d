export { getRedissonToken, InjectRedisson } from './nestjs/inject'
export { RedissonModule, type RedissonModuleAsyncOptions, type RedissonModuleOptions } from './nestjs/module'
export { RunOnce, type RunOnceDecoratorOptions } from './nestjs/run-once'
export { WithLock, type WithLockDecoratorOptions } from './nestjs/with-lock'
