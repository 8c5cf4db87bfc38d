import { inspect } from 'node:util'
import { checkOptions, describe } from './api/arguments'
import type { ClientStats, HeldLock } from './api/client-state'
import type { RedissonEvents } from './api/events'
import type { Lockable } from './api/lockable'
import type { RedissonOptions } from './api/options'
import type { RLock } from './api/rlock'
import type { RPermitExpirableSemaphore } from './api/rpermit-expirable-semaphore'
import type { RReadWriteLock } from './api/rread-write-lock'
import { Client, type ClientInternals } from './client/client'
import { FairLock, NonReentrantFairLock, type RFairLock } from './locks/fair-lock'
import { FencedLock, type RFencedLock } from './locks/fenced-lock'
import { Lock } from './locks/lock'
import { MultiLock, type RMultiLock } from './locks/multi-lock'
import { NonReentrantLock } from './locks/non-reentrant-lock'
import { ReadWriteLock } from './locks/read-write-lock'
import { RedLock, type RRedLock } from './locks/red-lock'
import { type RunOnceOptions, type RunOnceTask, runOnce } from './locks/run-once'
import { type BackOffPolicy, SpinLock } from './locks/spin-lock'
import { PlainTokenLock, type TokenLock } from './locks/token-lock'
import { LogicalThread } from './ownership/logical-thread'
import { sharesSlotWithCompanions } from './redis/names'
import { CountDownLatch, type RCountDownLatch } from './synchronizers/count-down-latch'
import { PermitExpirableSemaphore } from './synchronizers/permit-expirable-semaphore'
import { type RSemaphore, Semaphore } from './synchronizers/semaphore'

/** Options of `shutdown()`. */
export interface ShutdownOptions {
  /**
   * How long `unlock()` still works, in ms, while locks are held or commands under way.
   * @default 2000
   */
  timeout?: number | undefined
}

const SHUTDOWN_TIMEOUT = 2_000

/**
 * What a Redisson client offers, for code that is to run with a test double in its place: `Redisson.create` gives one,
 * and a class or an object of yours that implements it type-checks wherever one is expected.
 */
export interface RedissonClient
  extends Omit<Pick<Redisson, keyof Redisson>, 'on' | 'once' | 'off' | Internal> {
  /** Listens to an event. */
  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
  /** Listens to the next event of this kind. */
  once<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
  /** Stops listening. */
  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
}

type Internal = 'internals' | 'toJSON' | typeof inspect.custom

/** A client: a connection to Redis and all that its locks share. One a process is plenty. */
export class Redisson implements RedissonClient {
  private ending: Promise<void> | undefined

  private constructor(private readonly client: Client) {
    if (!(client instanceof Client)) throw new TypeError('use await Redisson.create(options)')
  }

  /**
   * Connects and resolves with a client.
   *
   * Warns, by `process.emitWarning`, of rights that locks will miss, where the server has ACL DRYRUN and the user may
   * ask it: `RLOCK_PUBLISH_REFUSED`, `RLOCK_EVALSHA_REFUSED`.
   *
   * @throws {@link RedisUnavailableError}, naming host and port, when the server cannot be reached within the connect
   * timeout (ioredis's `connectTimeout`, 10 s by default).
   * @throws {@link RedisRefusedError} when it refuses the client: wrong credentials, a missing right.
   * @throws TypeError or RangeError for options that make no sense.
   * @example
   * ```ts
   * import { Redisson } from 'rlock'
   * const redisson = await Redisson.create({ redis: 'redis://127.0.0.1:6379' })
   * redisson.on('error', (error) => log.warn(error))
   * await redisson.getLock('order:42').withLock(({ signal }) => work(signal))
   * await redisson.shutdown()
   * ```
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
   *
   * @throws TypeError for a name that is empty, no string or no well-formed Unicode and, in a cluster, for one
   * whose key and channel would fall into different slots (such as `a}b`).
   * @example
   * ```ts
   * await redisson.getLock('order:42').withLock(() => charge(order))
   * ```
   */
  getLock(name: string): RLock {
    return new Lock(this.client, name, this.keyOf(name))
  }

  /**
   * The read-write lock of this name. Cheap, asks nothing of the server; two objects of one name are the same
   * lock. A read-write lock and a plain lock of one name exclude nothing: they are WrongTypeErrors to each
   * other. Throws as `getLock` does.
   * @example
   * ```ts
   * const prices = redisson.getReadWriteLock('prices')
   * await prices.readLock().withLock(read) // beside other readers
   * await prices.writeLock().withLock(change) // alone
   * ```
   */
  getReadWriteLock(name: string): RReadWriteLock {
    return new ReadWriteLock(this.client, name, this.keyOf(name))
  }

  /**
   * The fair lock of this name: its waiters are served in the order in which they arrived at the server. Cheap, asks
   * nothing of the server; two objects of one name are the same lock. Throws as `getLock` does.
   * @example
   * ```ts
   * await redisson.getFairLock('queue').withLock(() => work())
   * ```
   */
  getFairLock(name: string): RFairLock {
    return new FairLock(this.client, name, this.keyOf(name))
  }

  /**
   * The same, but a caller that holds it and asks again is refused with IllegalMonitorStateError. Throws as `getLock`
   * does.
   */
  getNonReentrantFairLock(name: string): RFairLock {
    return new NonReentrantFairLock(this.client, name, this.keyOf(name))
  }

  /**
   * The fenced lock of this name: a lock whose grants are numbered. Cheap, asks nothing of the server; two objects of
   * one name are the same lock. Throws as `getLock` does.
   * @example
   * ```ts
   * await redisson.getFencedLock('order:42:fenced').withLock(({ token }) => save(order, token))
   * ```
   */
  getFencedLock(name: string): RFencedLock {
    return new FencedLock(this.client, name, this.keyOf(name))
  }

  /**
   * The non-reentrant lock of this name: its holder is rejected with IllegalMonitorStateError when it asks again. Cheap,
   * asks nothing of the server; the same lock as `getLock` of that name. Throws as `getLock` does.
   */
  getNonReentrantLock(name: string): RLock {
    return new NonReentrantLock(this.client, name, this.keyOf(name))
  }

  /**
   * The spin lock of this name: its waiters look again after the pauses of `backOff`, by default those of
   * `exponentialBackOff()`. Use it beside Java's SpinLock, which publishes nothing. Cheap, asks nothing of the server;
   * the same lock as `getLock` of that name. Throws as `getLock` does, and TypeError for a `backOff` that is none.
   * @example
   * ```ts
   * import { exponentialBackOff } from 'rlock'
   * await redisson.getSpinLock('order:42', exponentialBackOff({ maxDelay: 50 })).withLock(() => work())
   * ```
   */
  getSpinLock(name: string, backOff?: BackOffPolicy): RLock {
    return new SpinLock(this.client, name, this.keyOf(name), backOff)
  }

  /**
   * The token lock of this name: the plain `SET key token NX PX` lock of other libraries, not re-entrant. Cheap, asks
   * nothing of the server; two objects of one name are the same lock. Throws as `getLock` does.
   * @example
   * ```ts
   * await redisson.getTokenLock('locks:report').withLock(() => report())
   * ```
   */
  getTokenLock(name: string): TokenLock {
    return new PlainTokenLock(this.client, name, this.keyOf(name))
  }

  /**
   * The latch of this name. Cheap, asks nothing of the server; two objects of one name are the same latch. Throws as
   * `getLock` does and, in a cluster, for a name with braces.
   * @example
   * ```ts
   * const latch = redisson.getCountDownLatch('imports')
   * await latch.trySetCount(1)
   * await latch.countDown()
   * await latch.await()
   * ```
   */
  getCountDownLatch(name: string): RCountDownLatch {
    return new CountDownLatch(this.client, name, this.keyOf(name))
  }

  /**
   * Several locks as one, all of them or none. They may be of any kind and of several clients. Cheap, asks nothing of the
   * server.
   * @throws TypeError for what is no lock.
   * @throws RangeError for no lock at all, and for the same lock twice.
   * @example
   * ```ts
   * const both = redisson.getMultiLock(redisson.getLock('account:1'), redisson.getLock('account:2'))
   * await both.withLock(({ signal }) => transfer(signal))
   * ```
   */
  getMultiLock(...locks: Lockable[]): RMultiLock {
    return new MultiLock(this.client, locks)
  }

  /**
   * Locks on independent servers as one, held while a majority of them is held; each server has a client of its own.
   * Cheap, asks nothing of the servers. Throws as `getMultiLock` does.
   * @example
   * ```ts
   * import { Redisson } from 'rlock'
   * const clients = await Promise.all(urls.map((redis) => Redisson.create({ redis })))
   * const lock = clients[0]!.getRedLock(...clients.map((client, at) => client.getLock(`order:42:${at}`)))
   * await lock.withLock(({ signal }) => charge(order, { signal }))
   * ```
   */
  getRedLock(...locks: Lockable[]): RRedLock {
    return new RedLock(this.client, locks)
  }

  /**
   * The semaphore of this name. Cheap, asks nothing of the server; two objects of one name are the same semaphore. Throws as
   * `getLock` does.
   * @example
   * ```ts
   * const printers = redisson.getSemaphore('printers')
   * await printers.trySetPermits(3) // changes nothing where there is such a semaphore
   * await printers.withPermits(() => work(), { permits: 2 })
   * ```
   */
  getSemaphore(name: string): RSemaphore {
    return new Semaphore(this.client, name, this.keyOf(name))
  }

  /**
   * The semaphore of this name whose permits expire. Cheap, asks nothing of the server; two objects of one name are the same
   * semaphore. Throws as `getLock` does.
   * @example
   * ```ts
   * const licences = redisson.getPermitExpirableSemaphore('licences')
   * await licences.trySetPermits(5)
   * await licences.withPermit(({ signal }) => work(signal))
   * ```
   */
  getPermitExpirableSemaphore(name: string): RPermitExpirableSemaphore {
    return new PermitExpirableSemaphore(this.client, name, this.keyOf(name))
  }

  private keyOf(name: string): string {
    if (typeof name !== 'string') throw new TypeError(`a lock's name must be a string, got ${describe(name)}`)
    if (name === '') throw new TypeError("a lock's name must not be empty")
    if (!name.isWellFormed())
      throw new TypeError(
        `the name ${JSON.stringify(name)} is no well-formed Unicode: it contains half of a character. ` +
          'Redis would store another name, which other malformed names share. Cut names by characters, not by length',
      )
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
   * Runs `fn` unless another owner holds the lock of this name: for a cron job that every instance starts and one is to
   * run. Resolves with whether `fn` was run here. The lock is not released before `atLeast` is over, so that an instance
   * whose clock is late does not run the job again. A job that takes longer than `atLeast` holds the lock until it ends.
   *
   * Not in Java; there, `getLock(name)` is the same lock. Rejects with what `fn` rejects with (the lock stays for
   * `atLeast`), and otherwise as `tryAcquire` of a lock does.
   * @throws {@link LockLostError} where the lock was lost while `fn` ran.
   * @example
   * ```ts
   * const isRunHere = await redisson.runOnce('nightly-report', ({ signal }) => report(signal), { atLeast: 50_000 })
   * ```
   */
  async runOnce(name: string, fn: (task: RunOnceTask) => unknown, options: RunOnceOptions): Promise<boolean> {
    return await runOnce(this.client, new Lock(this.client, name, this.keyOf(name)), fn, options)
  }

  /** The id of this client in owner fields: a random UUID, of version 8 (those of Java clients are of version 4). */
  getId(): string {
    return this.client.clientId
  }

  /**
   * Listens to an event; a listener that throws is reported as `error` and harms no lock.
   * @example
   * ```ts
   * redisson.on('lockLost', ({ lockName, reason }) => log.error(`lost ${lockName}: ${reason}`))
   * ```
   */
  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    this.client.events.on(event, listener)
    return this
  }

  /** Listens to the next event of this kind. */
  once<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    this.client.events.once(event, listener)
    return this
  }

  /** Stops listening. */
  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    this.client.events.off(event, listener)
    return this
  }

  /**
   * What this client holds at this moment, for logs and health pages. Asks nothing of the server.
   * @example
   * ```ts
   * for (const { kind, lockName, heldFor } of redisson.holds()) log.warn(kind, lockName, heldFor)
   * ```
   */
  holds(): HeldLock[] {
    return this.client.holds()
  }

  /** How much this client has in hand at this moment, for gauges. Asks nothing of the server. */
  stats(): ClientStats {
    return this.client.publicStats()
  }

  /**
   * Ends the client: new acquisitions and waiting ones reject with RedissonShutdownError, `unlock()` works
   * for up to `timeout` ms while something is held, then the signals of what is still held abort and the
   * connections close. Locks still held are left to their lease, as with Java. Can be called twice.
   * @throws TypeError or RangeError for a `timeout` that makes no sense.
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

  /** @internal For tests: the client beneath. */
  get internals(): Client {
    return this.client
  }

  /** @internal Without the credentials inside, should it be logged. */
  [inspect.custom](): string {
    return `Redisson(${this.getId()})`
  }

  /** @internal */
  toJSON(): object {
    return { id: this.getId() }
  }

  /** `shutdown()` with its default timeout. */
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
