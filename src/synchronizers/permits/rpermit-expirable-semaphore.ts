import type {
  AcquirePermitOptions,
  LeasedPermitsOptions,
  TryAcquirePermitOptions,
  WithPermitOptions,
} from '../../api/call-options'
import type { TimeUnit } from '../../api/time-unit'
import type { Permit } from './permit'

/**
 * Redisson's RPermitExpirableSemaphore: a number of permits, each of which has an id and a lease. Any caller
 * that knows the id may release the permit, in any process, in Java too. When its lease ends, a permit is
 * free again without a release. A permit is _in use_ while a caller has it.
 *
 * A service should use `acquirePermit()`: the watchdog renews the permit while the process lives. After a
 * crash of the process the permit is free again within `lockWatchdogTimeout`. The permit's `signal` aborts
 * when the permit is lost. `acquire()` is Java's method: without a lease the permit stays in use until a
 * release, and a lease is not renewed.
 *
 * Callers of one process are served first come, first served, whatever they ask for. A `tryAcquire` without a
 * wait acquires nothing while other callers of this process wait.
 *
 * **A Permit and its id are apart.** `release`, `tryRelease` and `updateLeaseTime` of an id that this client
 * holds as a Permit reject with TypeError, and a list with one such id sends nothing: use `permit.release()`.
 *
 * **Different from Java.** The server's clock decides when a lease ends. (Java uses the clock of each client:
 * a client with a fast clock takes back permits that are in use.) `release(ids)` releases the permits in use
 * and rejects with the ids of the others; `tryRelease(ids)` is Java's method. The release of a permit whose
 * lease has ended rejects. `addPermits` and `setPermits` keep the time to live. `setPermits` and
 * `trySetPermits` count the permits in use, also where the count was lost.
 *
 * **Errors.** As RLock's, and PermitNotHeldError for permits that are not in use.
 */
export interface RPermitExpirableSemaphore {
  /** The name given to `getPermitExpirableSemaphore`. */
  getName(): string

  /**
   * Takes a permit, and waits until one is free. The watchdog renews it until its release, unless the options
   * give a lease.
   * @example
   * ```ts
   * const licences = redisson.getPermitExpirableSemaphore('licences')
   * await licences.trySetPermits(5)
   * await using permit = await licences.acquirePermit()
   * await work(permit.signal)
   * ```
   */
  acquirePermit(options?: AcquirePermitOptions): Promise<Permit>
  /**
   * The same, but waits for `waitTime` at most (absent: one try); resolves with undefined when no permit was
   * free.
   */
  tryAcquirePermit(options?: TryAcquirePermitOptions): Promise<Permit | undefined>
  /**
   * Runs `fn` with such a permit and releases it. Rejects with the error of `fn`.
   * @throws {@link LockTimeoutError} when no permit was free within `waitTime`.
   * @throws {@link PermitNotHeldError} when `fn` succeeded but the permit was lost; its `result` is the value
   * of `fn`.
   */
  withPermit<T>(fn: (permit: Permit) => T | Promise<T>, options?: WithPermitOptions): Promise<T>

  /** Takes a permit without a lease; resolves with its id. */
  acquire(): Promise<string>
  /** Takes a permit for `leaseTime`; the watchdog does not renew it. */
  acquire(leaseTime: number, unit: TimeUnit): Promise<string>
  /** Takes several, all or none; resolves with their ids. */
  acquire(options: Omit<LeasedPermitsOptions, 'waitTime'> & { waitTime?: undefined }): Promise<string[]>
  /** The same within `waitTime`; resolves with undefined when that is over. */
  acquire(options: LeasedPermitsOptions): Promise<string[] | undefined>
  /** One try; resolves with the id, or with undefined when no permit is free. */
  tryAcquire(): Promise<string | undefined>
  /** Waits for at most `waitTime`. */
  tryAcquire(waitTime: number, unit: TimeUnit): Promise<string | undefined>
  /** The same, with a lease (-1: without). One unit for both. */
  tryAcquire(waitTime: number, leaseTime: number, unit: TimeUnit): Promise<string | undefined>
  /** Takes several, all or none. */
  tryAcquire(options: LeasedPermitsOptions): Promise<string[] | undefined>

  /**
   * Releases one permit, or several: permits in use are free again. May be repeated after
   * RedisUnavailableError.
   * @throws {@link PermitNotHeldError} with the ids of the permits that are not in use.
   */
  release(permits: string | readonly string[]): Promise<void>
  /** Releases a permit; resolves with whether it was in use and its lease had not ended. */
  tryRelease(permit: string): Promise<boolean>
  /**
   * Releases all of them, or none if one of them is not in use; resolves with how many it released. If it
   * rejects with RedisUnavailableError, it may have been applied.
   */
  tryRelease(permits: readonly string[]): Promise<number>

  /** How many permits are free. */
  availablePermits(): Promise<number>
  /** How many permits are in use. */
  acquiredPermits(): Promise<number>
  /** How many permits there are in all; 0 where the semaphore does not exist. */
  getPermits(): Promise<number>

  /**
   * Sets how many permits there are in all, if the semaphore does not exist; resolves with whether it did.
   */
  trySetPermits(permits: number): Promise<boolean>
  /** Sets how many permits there are in all, also those in use. Repairs a semaphore whose count was lost. */
  setPermits(permits: number): Promise<void>
  /** Adds this many permits; a negative number takes some away. */
  addPermits(permits: number): Promise<void>

  /**
   * Sets the lease of a permit from now on, in ms unless a unit follows (-1: without); resolves with whether
   * the permit is in use. If it rejects with RedisUnavailableError, it may have been applied. A `Permit` of
   * another process learns of a shorter lease at its next renewal, which a permit with a `leaseTime` does not
   * have.
   */
  updateLeaseTime(permit: string, leaseTime: number, unit?: TimeUnit): Promise<boolean>
  /** How long the lease of a permit still lasts, in ms; -1: without end. */
  getLeaseTime(permit: string): Promise<number>
}
