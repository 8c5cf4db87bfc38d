import type { RedissonClient, RedissonOptions } from 'rlock'

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
