import { inspect } from 'node:util'
import { checkOptions, describe } from './api/arguments'
import type { ClientStats, HeldLock, WaitingCaller } from './api/client-state'
import type { RedissonEvents } from './api/events'
import type { Lockable } from './api/lockable'
import type { RedissonOptions } from './api/options'
import { Client, type ClientInternals } from './client/client'
import type { LockKind } from './engine/lock-kind'
import { ReentrantLock } from './engine/reentrant-lock'
import type { RLock } from './engine/rlock'
import { FairLockKind, NonReentrantFairLockKind, type RFairLock } from './locks/fair-lock'
import { FencedLock, type RFencedLock } from './locks/fenced-lock'
import { HandoffLockKind } from './locks/lock'
import { MultiLock, type RMultiLock } from './locks/multi-lock'
import { NonReentrantLockKind } from './locks/non-reentrant-lock'
import { ReadLockKind } from './locks/read-lock'
import { ReadWriteLock, type RReadWriteLock } from './locks/read-write-lock'
import { RedLock, type RRedLock } from './locks/red-lock'
import { type RunOnceOptions, type RunOnceTask, runOnce } from './locks/run-once'
import { type BackOffPolicy, SpinLockKind } from './locks/spin-lock'
import { type TokenLock, TokenLockKind } from './locks/token-lock'
import { WriteLockKind } from './locks/write-lock'
import { LogicalThread } from './ownership/logical-thread'
import type { PingOptions, RedissonClient, ShutdownOptions } from './redisson-client'
import { sharesSlotWithCompanions } from './scripts/key-names'
import { CountDownLatch, type RCountDownLatch } from './synchronizers/count-down-latch'
import { PermitExpirableSemaphore } from './synchronizers/permits/permit-expirable-semaphore'
import type { RPermitExpirableSemaphore } from './synchronizers/permits/rpermit-expirable-semaphore'
import { RateLimiter, type RRateLimiter } from './synchronizers/rate-limiter'
import { type RSemaphore, Semaphore } from './synchronizers/semaphore'
import { quote } from './util/quote'

const SHUTDOWN_TIMEOUT = 2_000
const PING_TIMEOUT = 1_000
/** In a template string, a missing part becomes the word `undefined`. */
const MISSING = /(?<![\p{L}\p{N}_])undefined(?![\p{L}\p{N}_])|\[object \w+\]/u

/**
 * A client: a connection to Redis and all that its locks share. One client for each process is enough. The interface
 * documents the methods.
 */
export class Redisson implements RedissonClient {
  private ending: Promise<void> | undefined

  private constructor(private readonly client: Client) {
    if (!(client instanceof Client)) throw new TypeError('use await Redisson.create(options)')
  }

  /**
   * Connects and resolves with a client.
   *
   * Emits the process warning `RLOCK_FENCE_REFUSED` if the user may not end a broken connection for certain.
   *
   * @throws {@link RedisUnavailableError}, naming host and port, when the server cannot be reached within the connect
   * timeout (ioredis's `connectTimeout`, 10 s by default).
   * @throws {@link RedisRefusedError} when the server refuses the client: wrong credentials, a missing right.
   * @throws TypeError or RangeError for invalid options.
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

  getLock(name: string): RLock {
    return lockOf(this, name, HandoffLockKind)
  }

  getReadWriteLock(name: string): RReadWriteLock {
    return new ReadWriteLock(name, lockOf(this, name, ReadLockKind), lockOf(this, name, WriteLockKind))
  }

  getFairLock(name: string): RFairLock {
    return lockOf(this, name, FairLockKind)
  }

  getNonReentrantFairLock(name: string): RFairLock {
    return lockOf(this, name, NonReentrantFairLockKind)
  }

  getFencedLock(name: string): RFencedLock {
    return new FencedLock(clientOf(this), name, keyOf(this.client, name))
  }

  getNonReentrantLock(name: string): RLock {
    return lockOf(this, name, NonReentrantLockKind)
  }

  getSpinLock(name: string, backOff?: BackOffPolicy): RLock {
    return lockOf(this, name, SpinLockKind, backOff)
  }

  getTokenLock(name: string): TokenLock {
    return lockOf(this, name, TokenLockKind)
  }

  getCountDownLatch(name: string): RCountDownLatch {
    return new CountDownLatch(clientOf(this), name, keyOf(this.client, name))
  }

  getMultiLock(...locks: Lockable[]): RMultiLock {
    return new MultiLock(clientOf(this), locks)
  }

  getRedLock(...locks: Lockable[]): RRedLock {
    return new RedLock(clientOf(this), locks)
  }

  getSemaphore(name: string): RSemaphore {
    return new Semaphore(clientOf(this), name, keyOf(this.client, name))
  }

  getPermitExpirableSemaphore(name: string): RPermitExpirableSemaphore {
    return new PermitExpirableSemaphore(clientOf(this), name, keyOf(this.client, name))
  }

  getRateLimiter(name: string): RRateLimiter {
    return new RateLimiter(clientOf(this), name, keyOf(this.client, name))
  }

  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('run expects a function')
    return await new LogicalThread(undefined).run(fn)
  }

  async runOnce(name: string, fn: (task: RunOnceTask) => unknown, options: RunOnceOptions): Promise<boolean> {
    return await runOnce(clientOf(this), lockOf(this, name, HandoffLockKind), fn, options)
  }

  getId(): string {
    return clientOf(this).clientId
  }

  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.on(event, listener)
    return this
  }

  once<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.on(event, listener, true)
    return this
  }

  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this {
    clientOf(this).events.off(event, listener)
    return this
  }

  holds(): HeldLock[] {
    return clientOf(this).holds()
  }

  waiters(): WaitingCaller[] {
    return clientOf(this).waiters()
  }

  get isConnected(): boolean {
    return clientOf(this).isConnected
  }

  async ping(options: PingOptions = {}): Promise<void> {
    await clientOf(this).ping(timeoutOf(options, PING_TIMEOUT))
  }

  stats(): ClientStats {
    return clientOf(this).publicStats()
  }

  shutdown(options: ShutdownOptions = {}): Promise<void> {
    try {
      const timeout = timeoutOf(options, SHUTDOWN_TIMEOUT)
      this.ending ??= clientOf(this).shutdown(timeout)
      return this.ending
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** @internal A log must not show the credentials inside. */
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

function timeoutOf(options: ShutdownOptions, fallback: number): number {
  checkOptions(options, ['timeout'])
  const { timeout = fallback } = options
  if (typeof timeout !== 'number') throw new TypeError(`timeout must be a number, got ${describe(timeout)}`)
  if (Number.isNaN(timeout) || timeout < 0)
    throw new RangeError(`timeout must be 0 ms or more, got ${timeout}`)
  return timeout
}

/** The client behind the API. */
export function clientOf(redisson: Redisson): Client {
  // biome-ignore lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
  if (redisson instanceof Redisson) return redisson['client']
  throw new TypeError(
    'the method was taken out of its client: write redisson.getLock(), and not const { getLock } = redisson',
  )
}

/** `more`: what this kind of lock takes beside its names. */
function lockOf<More extends unknown[]>(
  redisson: Redisson,
  name: string,
  Kind: new (name: string, key: string, client: Client, ...more: More) => LockKind,
  ...more: More
): ReentrantLock {
  const client = clientOf(redisson)
  return new ReentrantLock(client, new Kind(name, keyOf(client, name), client, ...more))
}

/** The key of an object of this name. Throws TypeError for a name that cannot be one. */
export function keyOf(client: Client, name: string): string {
  if (typeof name !== 'string')
    throw new TypeError(`the name of a lock, semaphore or latch must be a string, got ${describe(name)}`)
  if (name === '') throw new TypeError('the name of a lock, semaphore or latch must not be empty')
  if (!name.isWellFormed())
    throw new TypeError(
      `the name ${quote(name)} is not well-formed Unicode: it contains half of a character. ` +
        'Redis would store another name, which other malformed names share. Cut names by characters, not by length',
    )
  if (MISSING.test(name))
    throw new TypeError(
      `the name ${quote(name)} cannot be used: a part of it is missing, or is an object, so that different names would be one`,
    )
  const key = client.options.mapName(name)
  if (client.connections.isCluster && !sharesSlotWithCompanions(key))
    throw new TypeError(
      `the name ${quote(name)} cannot be used in a cluster: because of its braces its key and its ` +
        'channel fall into different slots (Java fails there with CROSSSLOT). Use balanced braces, or none',
    )
  return key
}
