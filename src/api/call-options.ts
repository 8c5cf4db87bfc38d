/** Options of `lock()`. */
export interface LockOptions {
  /**
   * How long the lock is held at most, in ms. Absent or -1: until the release, and the watchdog renews the
   * lease. A hold counts as lost a tenth of its lease earlier, at most a second, so that its holder knows
   * before Redis grants the lock to another owner. With `leaseTime: 10_000` that is after 9 s.
   */
  leaseTime?: number | undefined
  /**
   * How long the watchdog goes on at most, in ms from the acquisition; not with a `leaseTime`. Absent or -1:
   * as the client says. No lease ends later, and the hold counts as lost (reason `limit`) a tenth of this
   * time earlier, at most a second. A crash frees the lock within `lockWatchdogTimeout` as ever. A re-entry
   * never prolongs it; below a hold without it, it is a TypeError.
   */
  maxHoldTime?: number | undefined
  /**
   * The caller, as a positive integer of your choice. It replaces `redisson.run()`, and is local to this
   * client.
   */
  threadId?: number | undefined
  /**
   * Cancels the acquisition when it aborts. The call rejects with the signal's reason, and nothing stays
   * held.
   */
  signal?: AbortSignal | undefined
}

/** Options of `tryLock()` and `tryAcquire()`. */
export interface TryLockOptions extends LockOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; Infinity: without limit.
   * @default 0
   */
  waitTime?: number | undefined
}

/** Options of a LockHold's `unlock()`. */
export interface ReleaseOptions {
  /** Stops waiting for the release when it aborts; the release itself goes on in the background. */
  signal?: AbortSignal | undefined
}

/** Options of `unlock()`. */
export interface UnlockOptions extends ReleaseOptions {
  /** The `threadId` under which the lock was acquired. */
  threadId?: number | undefined
}

/** Options of `withLock()`. */
export interface WithLockOptions extends Omit<LockOptions, 'threadId'> {
  /**
   * How long to wait at most, in ms; 0 or less: one try; absent: as the client says; Infinity: without limit.
   * Then rejects with LockTimeoutError.
   */
  waitTime?: number | undefined
}

/** Options of calls that only wait. */
export interface WaitOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one check; absent: as the client says; Infinity: without
   * limit.
   */
  waitTime?: number | undefined
  /** Cancels the wait when it aborts. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Options of a semaphore's `acquire()`. */
export interface AcquirePermitsOptions {
  /**
   * How many permits; the call takes all of them or none.
   * @default 1
   */
  permits?: number | undefined
  /** Cancels the acquisition when it aborts. The call rejects with the signal's reason, and takes nothing. */
  signal?: AbortSignal | undefined
}

/** Options of a semaphore's `tryAcquire()`. */
export interface TryAcquirePermitsOptions extends AcquirePermitsOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; Infinity: without limit.
   * @default 0
   */
  waitTime?: number | undefined
}

/** Options of `withPermits()`. */
export interface WithPermitsOptions extends AcquirePermitsOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; absent: as the client says; Infinity: without limit.
   * Then rejects with LockTimeoutError.
   */
  waitTime?: number | undefined
}

/** Options of `acquire()` and `tryAcquire()` of a semaphore whose permits expire. */
export interface LeasedPermitsOptions {
  /** How many permits, 1 to 1000; the call takes all of them or none. */
  permits: number
  /**
   * The lease of the permits in ms. Absent or -1: they stay taken until their release, even if this process
   * dies.
   */
  leaseTime?: number | undefined
  /**
   * How long to wait at most, in ms; 0 or less: one try; Infinity: without limit; absent: as the client says
   * (`acquire`) or one try (`tryAcquire`).
   */
  waitTime?: number | undefined
  /** Cancels the acquisition when it aborts. The call rejects with the signal's reason, and takes nothing. */
  signal?: AbortSignal | undefined
}

/** Options of `acquirePermit()`. */
export interface AcquirePermitOptions {
  /** The lease of the permit in ms. Absent or -1: until its release, and the watchdog renews the lease. */
  leaseTime?: number | undefined
  /**
   * How long the watchdog goes on at most, in ms, as for a lock; not with a `leaseTime`. Absent or -1: as the
   * client says.
   */
  maxHoldTime?: number | undefined
  /** Cancels the acquisition when it aborts. The call rejects with the signal's reason, and takes nothing. */
  signal?: AbortSignal | undefined
}

/** Options of `tryAcquirePermit()`. */
export interface TryAcquirePermitOptions extends AcquirePermitOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; Infinity: without limit.
   * @default 0
   */
  waitTime?: number | undefined
}

/** Options of `withPermit()`. */
export interface WithPermitOptions extends AcquirePermitOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; absent: as the client says; Infinity: without limit.
   * Then rejects with LockTimeoutError.
   */
  waitTime?: number | undefined
}

/** Options of a rate limiter's `acquire()`. */
export interface AcquireRateOptions extends AcquirePermitsOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try; absent: without limit. Then rejects with
   * LockTimeoutError.
   */
  waitTime?: number | undefined
}

/** Options of `trySetRate()`. */
export interface RateOptions {
  /**
   * For how long Redis keeps the limiter after its last use, in ms, at least the interval; 0: for ever.
   * @default 0
   */
  keepAliveTime?: number | undefined
}

/** Options of `setRate()` and `updateRate()`. */
export interface UpdateRateOptions extends RateOptions {
  /**
   * Whether the permits of the last interval count for the new rate. If not, all permits are left at once.
   * @default false
   */
  keepState?: boolean | undefined
}
