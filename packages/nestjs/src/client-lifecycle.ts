import { Logger, type OnApplicationShutdown } from '@nestjs/common'
import { Redisson, type RedissonClient } from 'rlock'
import type { ClientSource } from './inject'
import { quote } from './with-lock'

/** The clients of one application. */
interface Application {
  /** For each name of a client whether it is global. */
  readonly names: Map<string | undefined, boolean>
  readonly opened: Set<RedissonClient>
  /** It will not start. Nest tells this to no module, so the clients that are open would stay open. */
  hasFailed: boolean
}

/** By what Nest has once for each application. */
const applications = new WeakMap<object, Application>()

/** Starts and ends one client of an application. */
export class ClientLifecycle implements OnApplicationShutdown {
  private readonly application: Application
  private end: (() => Promise<void>) | undefined

  constructor(key: object, name: string | undefined, isGlobal: boolean) {
    this.application = applications.get(key) ?? { names: new Map(), opened: new Set(), hasFailed: false }
    applications.set(key, this.application)
    const { names } = this.application
    if (names.has(name) && (isGlobal || names.get(name))) {
      this.fail()
      const which = name === undefined ? 'without a name' : `with the name ${quote(name)}`
      throw new TypeError(
        `Two modules of the application have a Redisson client ${which}, and one of them is global: which one a class ` +
          'gets would be chance. Give each client a name of its own, or set isGlobal: false in both',
      )
    }
    names.set(name, isGlobal)
  }

  /** The client of these options. Nest does not call this if a test overrides the client. */
  async open(sourceOf: () => ClientSource | Promise<ClientSource>): Promise<RedissonClient> {
    try {
      return await this.openNow(await sourceOf())
    } catch (error) {
      this.fail()
      throw error
    }
  }

  private async openNow(source: ClientSource): Promise<RedissonClient> {
    if (typeof source !== 'object' || source === null)
      throw new TypeError("RedissonModule expects options, such as { redis: 'redis://127.0.0.1:6379' }")
    if ('redisson' in source) return givenClient(source.redisson)
    const { shutdownTimeout: timeout = 10_000, logEvents = true, ...options } = source
    checkOwnOptions(timeout, logEvents)
    const redisson = await Redisson.create(options)
    if (logEvents) logEventsOf(redisson)
    this.end = () => redisson.shutdown({ timeout })
    this.application.opened.add(redisson)
    if (this.application.hasFailed) this.fail()
    return redisson
  }

  private fail() {
    this.application.hasFailed = true
    for (const redisson of this.application.opened) redisson.shutdown({ timeout: 0 }).catch(() => {})
  }

  /** It does not run in `onModuleDestroy`: at that time requests and jobs still run, and their releases would fail. */
  async onApplicationShutdown(): Promise<void> {
    await this.end?.()
  }
}

function givenClient(redisson: unknown): RedissonClient {
  if (typeof redisson !== 'object' || redisson === null)
    throw new TypeError(`redisson must be a client, got ${redisson === null ? 'null' : typeof redisson}`)
  return redisson as RedissonClient
}

/** Before anything is connected. */
function checkOwnOptions(shutdownTimeout: unknown, logEvents: unknown) {
  if (typeof shutdownTimeout !== 'number')
    throw new TypeError(`shutdownTimeout must be a number of ms, got ${typeof shutdownTimeout}`)
  if (!(shutdownTimeout >= 0))
    throw new RangeError(`shutdownTimeout must be 0 ms or more, got ${shutdownTimeout}`)
  if (typeof logEvents !== 'boolean')
    throw new TypeError(`logEvents must be true or false, got ${typeof logEvents}`)
}

/** Sends the events of a client to Nest's logger. */
function logEventsOf(redisson: RedissonClient): void {
  const logger = new Logger('Redisson')
  redisson.on('error', (error) => logger.warn(error.message))
  redisson.on('renewalFailed', ({ lockName, error }) => {
    const reason = (error as Error)?.message ?? error
    logger.warn(`The renewal of the lock ${quote(lockName)} failed: ${reason}`)
  })
  redisson.on('lockLost', ({ error }) => logger.error(error.message))
  redisson.on('permitLost', ({ error }) => logger.error(error.message))
}
