import { inspect } from 'node:util'
import { checkOptions, describe } from './api/arguments'
import type { RedissonEvents } from './api/events'
import type { RLock } from './api/rlock'
import type { RReadWriteLock } from './api/rread-write-lock'
import { Client, type ClientInternals } from './client'
import { sharesSlotWithCompanions } from './names/redis-names'
import { LogicalThread } from './ownership/logical-thread'
import type { RedissonOptions } from './redisson-options'

/** Options of `shutdown()`. */
export interface ShutdownOptions {
  /** How long `unlock()` still works, in ms, while locks are held or commands under way. Default 2000. */
  timeout?: number
}

const SHUTDOWN_TIMEOUT = 2_000

/** A client: a connection to Redis and all that its locks share. One a process is plenty. */
export class Redisson {
  private ending: Promise<void> | undefined

  private constructor(private readonly client: Client) {
    if (!(client instanceof Client)) throw new TypeError('use await Redisson.create(options)')
  }

  /**
   * Connects and resolves with a client. Rejects with RedisUnavailableError, naming host and port, when the
   * server cannot be reached within the connect timeout (ioredis's `connectTimeout`, 10 s by default), and
   * with TypeError or RangeError for options that make no sense.
   */
  static async create(options: RedissonOptions): Promise<Redisson> {
    return await Redisson.createWith(options, {})
  }

  /** @internal For tests: with a clock, ids or a script transport of their own. */
  static async createWith(options: RedissonOptions, internals: ClientInternals): Promise<Redisson> {
    return new Redisson(await Client.connect(options, internals))
  }

  /**
   * The lock of this name. Cheap, asks nothing of the server; two objects of one name are the same lock.
   * Throws TypeError for a name that is empty or no string and, in a cluster, for one whose key and channel
   * would fall into different slots (such as `a}b`).
   */
  getLock(name: string): RLock {
    return this.client.lock(name, this.keyOf(name))
  }

  /**
   * The read-write lock of this name. Cheap, asks nothing of the server; two objects of one name are the same
   * lock. A read-write lock and a plain lock of one name exclude nothing: they are WrongTypeErrors to each
   * other. Throws as `getLock` does.
   */
  getReadWriteLock(name: string): RReadWriteLock {
    return this.client.readWriteLock(name, this.keyOf(name))
  }

  private keyOf(name: string): string {
    if (typeof name !== 'string') throw new TypeError(`a lock's name must be a string, got ${describe(name)}`)
    if (name === '') throw new TypeError("a lock's name must not be empty")
    const key = this.client.keyOf(name)
    if (this.client.isCluster && !sharesSlotWithCompanions(key))
      throw new TypeError(
        `the name ${JSON.stringify(name)} cannot be used in a cluster: because of its braces its key and its ` +
          'channel fall into different slots (Java fails there with CROSSSLOT). Use balanced braces, or none',
      )
    return key
  }

  /**
   * Runs `fn` as a logical thread: within it, however deep and through any lock object, locks are re-entered
   * and released as by one Java thread. A nested `run` is another thread. The thread ends when `fn` settles.
   */
  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('run expects a function')
    return await new LogicalThread(undefined).run(fn)
  }

  /** The id of this client in owner fields: a random UUID. */
  getId(): string {
    return this.client.clientId
  }

  /** Listens to an event; a listener that throws is reported as `error` and harms no lock. */
  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    this.client.events.on(event, listener)
    return this
  }

  /** Stops listening. */
  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    this.client.events.off(event, listener)
    return this
  }

  /**
   * Ends the client: new acquisitions and waiting ones reject with RedissonShutdownError, `unlock()` works
   * for up to `timeout` ms while something is held, then the signals of what is still held abort and the
   * connections close. Locks still held are left to their lease, as with Java. Can be called twice.
   */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    try {
      const timeout = timeoutOf(options)
      this.ending ??= this.client.shutdown(timeout)
      return this.ending
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** @internal Without the credentials inside, should somebody log it. */
  [inspect.custom](): string {
    return `Redisson(${this.getId()})`
  }

  /** @internal */
  toJSON(): object {
    return { id: this.getId() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown()
  }
}

function timeoutOf(options: ShutdownOptions): number {
  checkOptions(options, ['timeout'])
  const { timeout = SHUTDOWN_TIMEOUT } = options
  if (typeof timeout !== 'number') throw new TypeError(`timeout must be a number, got ${describe(timeout)}`)
  if (Number.isNaN(timeout) || timeout < 0)
    throw new RangeError(`timeout must be 0 ms or more, got ${timeout}`)
  return timeout
}
