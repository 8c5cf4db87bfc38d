import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common'
import { Redisson, type RedissonClient, type RedissonOptions } from '../index'
import { ClientLifecycle } from './client-lifecycle'
import { getRedissonToken } from './inject'

/** Where the module has its client from. */
export type ClientSource =
  | (RedissonOptions & {
      /**
       * How long the application's end waits for locks that are held, in ms; `unlock()` works meanwhile.
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
      /** A client of yours. The module neither shuts it down nor listens to it. */
      redisson: RedissonClient
    }

/** Where the module stands among the others. */
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
  /** What `useFactory` gets. */
  inject?: FactoryProvider['inject']
  /** Gives the options of `forRoot()` but `name` and `isGlobal`, which must be known before. */
  // biome-ignore lint/suspicious/noExplicitAny: what is injected is Nest's to know, as in its own FactoryProvider
  useFactory: (...args: any[]) => ClientSource | Promise<ClientSource>
}

/**
 * Connects when the application starts, which fails where Redis cannot be reached, and shuts the client down after the
 * application has stopped to take requests (`onApplicationShutdown`): waiting acquisitions are rejected, and what is
 * held may be released for `shutdownTimeout` ms. For SIGTERM to come to that, call `app.enableShutdownHooks()`.
 *
 * One `forRoot` for each client: a second one has a `name`.
 */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class RedissonModule {
  /** A client with these options, or one of yours. */
  static forRoot(options: RedissonModuleOptions): DynamicModule {
    const { name, isGlobal, ...source } = options
    return RedissonModule.forRootAsync({ name, isGlobal, useFactory: () => source as ClientSource })
  }

  /** The same with options that a factory gives. */
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
  if ('redisson' in source) return ClientLifecycle.ofYours(source.redisson)
  const { shutdownTimeout = 10_000, logEvents = true, ...options } = source
  return ClientLifecycle.ofOurs(await Redisson.create(options), shutdownTimeout, logEvents)
}
