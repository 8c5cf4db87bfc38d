import type { RedissonEvents } from './api/events'
import type { Lockable } from './api/lockable'
import type { RedissonOptions } from './api/options'
import { Client } from './client/client'
import type { ClientInternals } from './client/client-internals'
import { keyOf } from './client/object-name'
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
import { clientOf, RedissonLifecycle } from './redisson-lifecycle'
import { CountDownLatch, type RCountDownLatch } from './synchronizers/count-down-latch'
import { PermitExpirableSemaphore } from './synchronizers/permits/permit-expirable-semaphore'
import type { RPermitExpirableSemaphore } from './synchronizers/permits/rpermit-expirable-semaphore'
import { RateLimiter, type RRateLimiter } from './synchronizers/rate-limiter'
import { type RSemaphore, Semaphore } from './synchronizers/semaphore'

/**
 * A client: a connection to Redis and all that its locks share. One client for each process is enough.
 *
 * **Getters.** A getter returns at once and sends nothing to the server. Two objects of one name are the same
 * lock. A getter throws TypeError for a name that is empty, that is not a string, or that is not well-formed
 * Unicode, and for one in which a part is missing: with the word `undefined`, such as `a:undefined`, or with
 * `[object Object]`. A Java service may have such a name; these clients do not share it. In a cluster it also
 * throws for a name whose key and channel would fall into different slots, such as `a}b`.
 */
export class Redisson extends RedissonLifecycle {
  private constructor(client: Client) {
    super(client)
  }

  /**
   * Connects and resolves with a client.
   *
   * Emits the process warning `RLOCK_FENCE_REFUSED` if the user may not end a broken connection for certain.
   *
   * @throws {@link RedisUnavailableError}, naming host and port, when the server cannot be reached within the
   * connect timeout (ioredis's `connectTimeout`, 10 s by default).
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

  /**
   * The lock of this name.
   * @example
   * ```ts
   * await redisson.getLock('order:42').withLock(() => charge(order))
   * ```
   */
  getLock(name: string): RLock {
    return lockOf(this, name, HandoffLockKind)
  }

  /**
   * The read-write lock of this name. Do not use the name for a plain lock as well: while one of the two is
   * held, the other rejects with WrongTypeError.
   * @example
   * ```ts
   * const prices = redisson.getReadWriteLock('prices')
   * await prices.readLock().withLock(read) // beside other readers
   * await prices.writeLock().withLock(change) // alone
   * ```
   */
  getReadWriteLock(name: string): RReadWriteLock {
    return new ReadWriteLock(name, lockOf(this, name, ReadLockKind), lockOf(this, name, WriteLockKind))
  }

  /**
   * The fair lock of this name: it serves its waiters in the order in which they arrived at the server.
   * @example
   * ```ts
   * await redisson.getFairLock('queue').withLock(() => work())
   * ```
   */
  getFairLock(name: string): RFairLock {
    return lockOf(this, name, FairLockKind)
  }

  /**
   * The same, but a caller that holds the lock and acquires it again is rejected with
   * IllegalMonitorStateError.
   */
  getNonReentrantFairLock(name: string): RFairLock {
    return lockOf(this, name, NonReentrantFairLockKind)
  }

  /**
   * The fenced lock of this name: a lock that numbers its grants.
   * @example
   * ```ts
   * await redisson.getFencedLock('order:42:fenced').withLock(({ token }) => save(order, token))
   * ```
   */
  getFencedLock(name: string): RFencedLock {
    return new FencedLock(clientOf(this), name, keyOf(clientOf(this), name))
  }

  /**
   * The non-reentrant lock of this name: a caller that holds it and acquires it again is rejected with
   * IllegalMonitorStateError. It is the same lock as `getLock` of that name.
   */
  getNonReentrantLock(name: string): RLock {
    return lockOf(this, name, NonReentrantLockKind)
  }

  /**
   * The spin lock of this name: its waiters try again after the pauses of `backOff`, by default those of
   * `exponentialBackOff()`. Use it beside Java's SpinLock, which publishes nothing. It is the same lock as
   * `getLock` of that name. Throws TypeError for a `backOff` without `nextSleepPeriod()`.
   * @example
   * ```ts
   * import { exponentialBackOff } from 'rlock'
   * await redisson.getSpinLock('order:42', exponentialBackOff({ maxDelay: 50 })).withLock(() => work())
   * ```
   */
  getSpinLock(name: string, backOff?: BackOffPolicy): RLock {
    return lockOf(this, name, SpinLockKind, backOff)
  }

  /**
   * The token lock of this name: the plain `SET key token NX PX` lock of other libraries. It is not
   * re-entrant.
   * @example
   * ```ts
   * await redisson.getTokenLock('locks:report').withLock(() => report())
   * ```
   */
  getTokenLock(name: string): TokenLock {
    return lockOf(this, name, TokenLockKind)
  }

  /**
   * The latch of this name. In a cluster it also throws TypeError for a name with braces.
   * @example
   * ```ts
   * const latch = redisson.getCountDownLatch('imports')
   * await latch.trySetCount(1)
   * await latch.countDown()
   * await latch.await()
   * ```
   */
  getCountDownLatch(name: string): RCountDownLatch {
    return new CountDownLatch(clientOf(this), name, keyOf(clientOf(this), name))
  }

  /**
   * Several locks as one: a caller holds all of them or none. They may be of any kind, and of several
   * clients.
   * @throws TypeError for an argument that is not a lock.
   * @throws RangeError without any lock, and for the same lock twice.
   * @example
   * ```ts
   * const both = redisson.getMultiLock(redisson.getLock('account:1'), redisson.getLock('account:2'))
   * await both.withLock(({ signal }) => transfer(signal))
   * ```
   */
  getMultiLock(...locks: Lockable[]): RMultiLock {
    return new MultiLock(clientOf(this), locks)
  }

  /**
   * Locks on independent servers as one: a caller holds it while it holds a majority of them. Each server has
   * a client of its own. Throws as `getMultiLock` does.
   * @example
   * ```ts
   * import { Redisson } from 'rlock'
   * const clients = await Promise.all(urls.map((redis) => Redisson.create({ redis })))
   * const lock = clients[0]!.getRedLock(...clients.map((client) => client.getLock('order:42')))
   * await lock.withLock(({ signal }) => charge(order, { signal }))
   * ```
   */
  getRedLock(...locks: Lockable[]): RRedLock {
    return new RedLock(clientOf(this), locks)
  }

  /**
   * The semaphore of this name.
   * @example
   * ```ts
   * const printers = redisson.getSemaphore('printers')
   * await printers.trySetPermits(3) // changes nothing if the semaphore exists already
   * await printers.withPermits(() => work(), { permits: 2 })
   * ```
   */
  getSemaphore(name: string): RSemaphore {
    return new Semaphore(clientOf(this), name, keyOf(clientOf(this), name))
  }

  /**
   * The semaphore of this name whose permits expire.
   * @example
   * ```ts
   * const licences = redisson.getPermitExpirableSemaphore('licences')
   * await licences.trySetPermits(5)
   * await licences.withPermit(({ signal }) => work(signal))
   * ```
   */
  getPermitExpirableSemaphore(name: string): RPermitExpirableSemaphore {
    return new PermitExpirableSemaphore(clientOf(this), name, keyOf(clientOf(this), name))
  }

  /**
   * The rate limiter of this name: at most so many permits in any interval.
   * @example
   * ```ts
   * import { RateType, TimeUnit } from 'rlock'
   * const limiter = redisson.getRateLimiter('mail')
   * await limiter.trySetRate(RateType.OVERALL, 100, 1, TimeUnit.MINUTES) // keeps a rate that is set
   * await limiter.acquire()
   * await work()
   * ```
   */
  getRateLimiter(name: string): RRateLimiter {
    return new RateLimiter(clientOf(this), name, keyOf(clientOf(this), name))
  }

  /**
   * Runs `fn` unless another owner holds the lock of this name: for a cron job that every instance starts and
   * that one instance should run. Resolves with whether `fn` ran here. The lock stays held for `atLeast` ms,
   * so that an instance whose clock is late does not run the job again. A job that takes longer than
   * `atLeast` holds the lock until it ends. From the half of `atLeast` on the watchdog renews the lock: if
   * the process crashes after that, the lock stays for up to `lockWatchdogTimeout`.
   *
   * Not in Java; there, `getLock(name)` is the same lock. Rejects with the error of `fn` (the lock stays held
   * for `atLeast`), and otherwise as `tryAcquire` of a lock does.
   * @throws {@link LockLostError} when the lock was lost while `fn` ran.
   * @example
   * ```ts
   * const isRunHere = await redisson.runOnce('nightly-report', ({ signal }) => report(signal), { atLeast:
   * 50_000 })
   * ```
   */
  async runOnce(name: string, fn: (task: RunOnceTask) => unknown, options: RunOnceOptions): Promise<boolean> {
    return await runOnce(clientOf(this), lockOf(this, name, HandoffLockKind), fn, options)
  }
}

/**
 * What a Redisson client offers. `Redisson.create` returns one. Let your code depend on this interface, so
 * that a test can put a double in its place.
 */
export interface RedissonClient extends Omit<Redisson, 'on' | 'once' | 'off'> {
  // With `this`, these return the double where a double implements the interface.
  on<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
  once<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
  off<E extends keyof RedissonEvents>(event: E, listener: RedissonEvents[E]): this
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
