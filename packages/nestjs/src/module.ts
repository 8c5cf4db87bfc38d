import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common'
import { Redisson, type RedissonClient, type RedissonOptions } from 'rlock'
import { ClientLifecycle, logEventsOf } from './client-lifecycle'
import { getRedissonToken } from './inject'

/** The client of the module: options for a new one, or a client of yours. */
export type ClientSource =
  | (RedissonOptions & {
      /**
       * How long the end of the application waits for locks that are held, in ms. Until then `unlock()` works.
       * @default 10000
       */
      shutdownTimeout?: number | undefined
      /**
       * Whether the client's events `error`, `renewalFailed` and `lockLost` go to Nest's logger.
       * @default true
       */
      logEvents?: boolean | undefined
    })
  | {
      /** A client of yours. The module neither shuts it down nor listens to its events. */
      redisson: RedissonClient
    }

/** How other modules find the client. */
export interface Placement {
  /** The client's name, for `@InjectRedisson(name)`. Absent: the client without a name. */
  name?: string | undefined
  /**
   * Whether all modules of the application see the client.
   * @default true
   */
  isGlobal?: boolean | undefined
}

/** Options of `RedissonModule.forRoot()`: those of `Redisson.create`, and the module's own. */
export type RedissonModuleOptions = ClientSource & Placement

/** Options of `RedissonModule.forRootAsync()`. */
export interface RedissonModuleAsyncOptions extends Placement, Pick<ModuleMetadata, 'imports'> {
  /** The providers that Nest passes to `useFactory`. */
  inject?: FactoryProvider['inject']
  /** Returns the options of `forRoot()` without `name` and `isGlobal`, which Nest needs earlier. */
  // biome-ignore lint/suspicious/noExplicitAny: Nest decides what it injects, as in its own FactoryProvider
  useFactory: (...args: any[]) => ClientSource | Promise<ClientSource>
}

/**
 * Connects when the application starts; the start fails if Redis cannot be reached. Shuts the client down after the
 * application has stopped to accept requests (`onApplicationShutdown`): waiting acquisitions reject, and locks that are held
 * may be released for `shutdownTimeout` ms. Call `app.enableShutdownHooks()`, so that SIGTERM causes this, too.
 *
 * One `forRoot` for each client: a second one has a `name`.
 */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class RedissonModule {
  /** A module with a new client, or with a client of yours. */
  static forRoot(options: RedissonModuleOptions): DynamicModule {
    const { name, isGlobal, ...source } = options
    return RedissonModule.forRootAsync({ name, isGlobal, useFactory: () => source as ClientSource })
  }

  /** The same with options from a factory. */
  static forRootAsync(options: RedissonModuleAsyncOptions): DynamicModule {
    const { name, isGlobal = true, imports = [], inject = [], useFactory } = options
    const token = getRedissonToken(name)
    const lifecycle = `${String(name === undefined ? 'Redisson' : token)}:lifecycle`
    return {
      module: RedissonModule,
      global: isGlobal,
      imports,
      providers: [
        {
          provide: lifecycle,
          inject,
          useFactory: async (...args: unknown[]) => open(await useFactory(...args)),
        },
        { provide: token, inject: [lifecycle], useFactory: ({ redisson }: ClientLifecycle) => redisson },
      ],
      exports: [token],
    }
  }
}

async function open(source: ClientSource): Promise<ClientLifecycle> {
  if (typeof source !== 'object' || source === null)
    throw new TypeError("RedissonModule expects options, such as { redis: 'redis://127.0.0.1:6379' }")
  if ('redisson' in source) return new ClientLifecycle(source.redisson)
  const { shutdownTimeout = 10_000, logEvents = true, ...options } = source
  const redisson = await Redisson.create(options)
  if (logEvents) logEventsOf(redisson)
  return new ClientLifecycle(redisson, shutdownTimeout)
}
