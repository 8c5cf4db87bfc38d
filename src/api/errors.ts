/** Base of every error this package rejects with, apart from TypeError and RangeError for bad arguments. */
export abstract class RedissonError extends Error {
  /** Stable across versions and minification; compare this rather than the message. */
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The caller does not hold the lock it wants to release, or does two things with it at once. Java's IllegalMonitorStateException. */
export class IllegalMonitorStateError extends RedissonError {
  override readonly code: string = 'ILLEGAL_MONITOR_STATE'
}

/**
 * The hold is gone though nobody released it: its lease ran out, the lock was released by force, or the
 * server lost it. Somebody else may be inside.
 */
export class LockLostError extends IllegalMonitorStateError {
  override readonly code = 'LOCK_LOST'
  /** What the function given to `withLock` returned, where it finished in spite of the loss. */
  result?: unknown

  constructor(
    message: string,
    /** The lock's name. */
    readonly lockName: string,
    /** The hold's thread id on the wire, where it is known. */
    readonly threadId?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The client is shutting down or has been shut down. */
export class RedissonShutdownError extends RedissonError {
  override readonly code = 'REDISSON_SHUTDOWN'
}

/** No replica acknowledged the acquisition within `slavesSyncTimeout`; the lock was given back. */
export class LockNotReplicatedError extends RedissonError {
  override readonly code = 'LOCK_NOT_REPLICATED'
}

/** The server could not be reached, or answered nothing but passing errors, for as long as the call may wait. */
export class RedisUnavailableError extends RedissonError {
  override readonly code = 'REDIS_UNAVAILABLE'
}

/** The key holds something that is no lock of this kind. */
export class WrongTypeError extends RedissonError {
  override readonly code = 'WRONG_TYPE'
}
