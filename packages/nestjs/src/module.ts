import { randomUUID } from 'node:crypto'
import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { ClientLifecycle } from './client-lifecycle'
import type { ClientSource } from './inject'
import { getRedissonToken } from './inject'

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
 * One `forRoot` for each client: a second one has a `name`. Two clients of one name are refused, unless both have
 * `isGlobal: false`: then each module has the client that it imports.
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
    // A name that no other call has: Nest 10 takes modules that look alike for one, and then both have the first client.
    const lifecycle = `rlock:lifecycle:${randomUUID()}`
    return {
      module: RedissonModule,
      global: isGlobal,
      imports,
      providers: [
        {
          provide: lifecycle,
          inject: [ModulesContainer],
          useFactory: (application: ModulesContainer) => new ClientLifecycle(application, name, isGlobal),
        },
        {
          provide: token,
          inject: [lifecycle, ...inject],
          useFactory: (opening: ClientLifecycle, ...args: unknown[]) =>
            opening.open(() => useFactory(...args)),
        },
      ],
      exports: [token],
    }
  }
}
