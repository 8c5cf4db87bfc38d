import type {
  AcquirePermitOptions,
  LeasedPermitsOptions,
  TryAcquirePermitOptions,
  WithPermitOptions,
} from './leased-permit-arguments'
import type { Permit } from './permit'
import type { TimeUnit } from './time-unit'

/**
 * Redisson's RPermitExpirableSemaphore: a number of permits, each of which has an id and a lease. A caller that knows the id
 * may give the permit back, in any process, in Java too. When its lease runs out a permit is free again without that.
 *
 * `acquirePermit()` is what a service should use: the permit renews itself while its process lives, is free again
 * within `lockWatchdogTimeout` when that dies, and `signal` says so when it is lost. `acquire()` is Java's: without a
 * lease the permit stays taken for ever if it is not released, with one it is not renewed.
 *
 * Callers of one process are served first come, first served. One that wants more permits than there are lets smaller
 * ones behind it pass, ten times at most.
 *
 * **Different from Java.** Leases are judged by the server's clock (Java's by that of each client: one that is fast
 * takes back permits that are in use). `release(ids)` releases what is out and names the rest; `tryRelease(ids)` is
 * Java's. What is released after its lease ran out rejects. `addPermits` and `setPermits` keep the time to live.
 * `setPermits`, `trySetPermits` count the permits that are out, also where the count was lost.
 *
 * **Errors.** As RLock's, and PermitNotHeldError for permits that are not out.
 */
export interface RPermitExpirableSemaphore {
  /** The name given to `getPermitExpirableSemaphore`. */
  getName(): string

  /**
   * Takes a permit that renews itself until it is released, or that has the lease of the options; waits until there is
   * one.
   * @example
   * ```ts
   * const licences = redisson.getPermitExpirableSemaphore('licences')
   * await licences.trySetPermits(5)
   * await using permit = await licences.acquirePermit()
   * await work(permit.signal)
   * ```
   */
  acquirePermit(options?: AcquirePermitOptions): Promise<Permit>
  /** The same; waits for `waitTime` at most (absent: one try), and resolves with undefined when there was none. */
  tryAcquirePermit(options?: TryAcquirePermitOptions): Promise<Permit | undefined>
  /**
   * Runs `fn` with such a permit and releases it. Rejects with what `fn` rejects with.
   * @throws {@link LockTimeoutError} past `waitTime`.
   * @throws {@link PermitNotHeldError} where `fn` succeeded but the permit was lost meanwhile; its `result` is the value.
   */
  withPermit<T>(fn: (permit: Permit) => T | Promise<T>, options?: WithPermitOptions): Promise<T>

  /** Takes a permit without a lease; resolves with its id. */
  acquire(): Promise<string>
  /** Takes a permit for `leaseTime`, which nothing renews. */
  acquire(leaseTime: number, unit: TimeUnit): Promise<string>
  /** Takes several, all or none; resolves with their ids. */
  acquire(options: Omit<LeasedPermitsOptions, 'waitTime'> & { waitTime?: undefined }): Promise<string[]>
  /** The same within `waitTime`; resolves with undefined past it. */
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
   * Releases one permit, or several: those that are out are free again. May be repeated after RedisUnavailableError.
   * @throws {@link PermitNotHeldError} that names those that are not out.
   */
  release(permits: string | readonly string[]): Promise<void>
  /** Releases a permit; resolves with whether it was out and its lease had not ended. */
  tryRelease(permit: string): Promise<boolean>
  /** Releases all of them, or none where one is not out; resolves with how many it released. */
  tryRelease(permits: readonly string[]): Promise<number>

  /** How many permits are free. */
  availablePermits(): Promise<number>
  /** How many are out. */
  acquiredPermits(): Promise<number>
  /** How many there are in all; 0 where there is no such semaphore. */
  getPermits(): Promise<number>

  /** Sets how many permits there are in all, where there is no such semaphore; resolves with whether it was set. */
  trySetPermits(permits: number): Promise<boolean>
  /** Sets how many permits there are in all, those that are out included. Also the repair where the count was lost. */
  setPermits(permits: number): Promise<void>
  /** Adds so many permits; a negative number takes some away. */
  addPermits(permits: number): Promise<void>

  /**
   * Sets the lease of a permit from now on, in ms unless a unit follows (-1: without); resolves with whether it is out.
   * A `Permit` of this client has that lease from then on, and is renewed no more (-1: it is renewed). The holder of one
   * in another process learns of it at its next renewal.
   */
  updateLeaseTime(permit: string, leaseTime: number, unit?: TimeUnit): Promise<boolean>
  /** How long the lease of a permit still lasts, in ms; -1: without end. */
  getLeaseTime(permit: string): Promise<number>
}
