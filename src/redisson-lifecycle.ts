import { inspect } from 'node:util'
import { aNumber, checkOptions } from './api/arguments'
import type { ClientStats, HeldLock, WaitingCaller } from './api/client-state'
import type { RedissonEvents } from './api/events'
import { Client } from './client/client'
import { LogicalThread } from './ownership/logical-thread'

/** Options of `shutdown()`. */
export interface ShutdownOptions {
  /**
   * How long `unlock()` and `release()` still work, in ms, while locks are held, permits are out or commands
   * are in flight. Whatever it is, a shutdown waits up to a second for the answers to commands in flight, so
   * that no permit is lost.
   * @default 2000
   */
  timeout?: number | undefined
}

/** Options of `ping()`. */
export interface PingOptions {
  /**
   * How long to wait for the answer, in ms.
   * @default 1000
   */
  timeout?: number | undefined
}

const SHUTDOWN_TIMEOUT = 2_000
const PING_TIMEOUT = 1_000

/** What a client does beside giving objects: threads, events, what it holds, its health and its end. */
export abstract class RedissonLifecycle {
  private ending: Promise<void> | undefined

  /** @internal */
  constructor(
    /** @internal */
    protected readonly client: Client,
  ) {
    if (!(client instanceof Client)) throw new TypeError('use await Redisson.create(options)')
  }

  /**
   * Runs `fn` as a logical thread. Within it, however deep and through any lock object, locks are re-entered
   * and released as by one Java thread. A nested `run` is another thread. The thread ends when `fn` settles.
   * @example
   * ```ts
   * await redisson.run(async () => {
   *   await lock.lock()
   *   await lock.lock() // re-enters
   *   await lock.unlock()
   *   await lock.unlock()
   * })
   * ```
   */
  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('run expects a function')
    return await new LogicalThread(undefined).run(fn)
  }

  /**
   * The id of this client in owner fields: a random UUID of version 8. The ids of Java clients are of version
   * 4.
   */
  getId(): string {
    return clientOf(this).clientId
  }

  /**
   * Listens to an event. A listener that throws is reported as `error` and harms no lock.
   * @example
   * ```ts
   * redisson.on('lockLost', ({ lockName, reason }) => log.error(`lost ${lockName}: ${reason}`))
   * ```
   */
  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.on(event, listener)
    return this
  }

  /** Listens to the next event of this kind. */
  once<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.on(event, listener, true)
    return this
  }

  /** Stops listening. */
  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.off(event, listener)
    return this
  }

  /**
   * What this client holds at this moment, for logs and health pages. Sends nothing to the server.
   * @example
   * ```ts
   * for (const { kind, lockName, heldFor } of redisson.holds()) log.warn(kind, lockName, heldFor)
   * ```
   */
  holds(): HeldLock[] {
    return clientOf(this).leases.holds()
  }

  /**
   * What callers of this client wait for at this moment. Sends nothing to the server.
   * @example
   * ```ts
   * for (const { subject, waitingFor } of redisson.waiters()) log.warn(subject, waitingFor)
   * ```
   */
  waiters(): WaitingCaller[] {
    return clientOf(this).waiters()
  }

  /**
   * Whether the client has a connection on which it can send commands at this moment; false after
   * `shutdown()`. Sends nothing.
   */
  get isConnected(): boolean {
    return clientOf(this).isConnected
  }

  /**
   * Resolves when Redis has answered a PING; in a cluster, when every primary has. For a readiness probe.
   * @throws {@link RedisUnavailableError} when there is no answer within `timeout`.
   * @throws {@link RedisRefusedError} when the server refuses PING, or the login.
   * @throws {@link RedissonShutdownError} after `shutdown()`.
   * @example
   * ```ts
   * await redisson.ping()
   * ```
   */
  async ping(options: PingOptions = {}): Promise<void> {
    await clientOf(this).ping(timeoutOf(options, PING_TIMEOUT))
  }

  /**
   * How many holds, waiters, channels and commands this client has at this moment, for gauges. Sends nothing.
   */
  stats(): ClientStats {
    return clientOf(this).publicStats()
  }

  /**
   * Ends the client. Acquisitions reject with RedissonShutdownError from now on, also those that wait.
   * `unlock()`, and `release()` of permits, work for up to `timeout` ms while something is held. A client
   * that took permits and has not released as many waits for all of that time. Then the signals of all holds
   * that remain abort, and the connections close. Redis keeps locks that are still held until their leases
   * end, as with Java. A second call does nothing more.
   * @throws TypeError or RangeError for a `timeout` that is not a number of 0 or more.
   */
  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    const timeout = timeoutOf(options, SHUTDOWN_TIMEOUT)
    this.ending ??= clientOf(this).shutdown(timeout)
    await this.ending
  }

  /** @internal A log must not show the credentials inside. */
  protected [inspect.custom](): string {
    return `Redisson(${this.getId()})`
  }

  /** @internal */
  protected toJSON(): object {
    return { id: this.getId() }
  }

  /** `shutdown()` with its default timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown()
  }
}

function timeoutOf(options: ShutdownOptions, fallback: number): number {
  checkOptions(options, ['timeout'])
  const { timeout = fallback } = options
  if (aNumber('timeout', timeout) >= 0) return timeout
  throw new RangeError(`timeout must be 0 ms or more, got ${timeout}`)
}

/** The client behind the API. */
export function clientOf(redisson: RedissonLifecycle): Client {
  // biome-ignore lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
  if (redisson instanceof RedissonLifecycle) return redisson['client']
  throw new TypeError(
    'the method was taken out of its client: write redisson.getLock(), and not const { getLock } = redisson',
  )
}
