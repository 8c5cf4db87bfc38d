import { Inject, type InjectionToken } from '@nestjs/common'
import { Redisson, type RedissonClient, type RedissonOptions } from 'rlock'

/**
 * The token of the client of this name, for `app.get()` and for tests that replace the client. The token of the client
 * without a name is the class `Redisson`.
 */
export function getRedissonToken(name?: string): InjectionToken<Redisson> {
  return name === undefined ? Redisson : `Redisson:${name}`
}

/** Injects the client of this name, or the one without a name, into a constructor's parameter or a property. */
export function InjectRedisson(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getRedissonToken(name)) as ParameterDecorator & PropertyDecorator
}

/** The client of the module: options for a new one, or a client of yours. */
export type ClientSource =
  | (RedissonOptions & {
      /**
       * How long the end of the application waits for locks that are held, in ms. Until then `unlock()` works.
       * @default 10000
       */
      shutdownTimeout?: number | undefined
      /**
       * Whether the client's events `error`, `renewalFailed`, `lockLost` and `permitLost` go to Nest's logger.
       * @default true
       */
      logEvents?: boolean | undefined
    })
  | {
      /** A client of yours. The module neither shuts it down nor listens to its events. */
      redisson: RedissonClient
    }
