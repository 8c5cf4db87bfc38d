/**
 * Base of every error of this package. Calls also reject with TypeError and RangeError for bad arguments, with the reason of
 * a `signal` that aborts, and with what your own function throws.
 */
export abstract class RedissonError extends Error {
  /** Stable across versions and minification; compare this rather than the message. */
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/**
 * The caller does not hold the lock it wants to release, or does two things with it at once. Java's
 * IllegalMonitorStateException.
 */
export class IllegalMonitorStateError extends RedissonError {
  override readonly code: string = 'ILLEGAL_MONITOR_STATE'
}

/**
 * The hold is gone although it was not released: its lease ran out, the lock was released by force, or the
 * server lost it. Another owner may hold the lock now.
 */
export class LockLostError extends IllegalMonitorStateError {
  override readonly code = 'LOCK_LOST'
  /** What the function given to `withLock` returned, where it finished in spite of the loss. */
  result?: unknown
  /** For a multi lock or a RedLock: what became of each member. */
  members?: readonly LockMember[]

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

/**
 * The permits are no longer held: they were released already, or their leases ran out.
 */
export class PermitNotHeldError extends RedissonError {
  override readonly code = 'PERMIT_NOT_HELD'
  /** What the function given to `withPermit` returned, where it finished in spite of the loss. */
  result?: unknown

  constructor(
    message: string,
    /** The semaphore's name. */
    readonly semaphoreName: string,
    /** The ids of the permits that are no longer held. */
    readonly permitIds: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The client is shutting down or has been shut down. */
export class RedissonShutdownError extends RedissonError {
  override readonly code = 'REDISSON_SHUTDOWN'
}

/** No replica acknowledged the acquisition within `slavesSyncTimeout`; the lock was released. */
export class LockNotReplicatedError extends RedissonError {
  override readonly code = 'LOCK_NOT_REPLICATED'
}

/** The lock could not be acquired within the `waitTime` of `withLock`: another owner held it all the while. */
export class LockTimeoutError extends RedissonError {
  override readonly code = 'LOCK_TIMEOUT'

  constructor(
    message: string,
    /** The lock's name. */
    readonly lockName: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/**
 * - `held`: held by this caller
 * - `released`: was held by this caller, and is released
 * - `lost`: was held by this caller, and its hold is gone
 * - `taken`: another owner holds it
 * - `late`: acquired so late that too little of the lease was left
 * - `restarted`: its server started anew less than a lease ago, and may have forgotten who holds it
 * - `unreachable`: no answer
 * - `failed`: any other error
 */
export type LockMemberState =
  | 'held'
  | 'released'
  | 'lost'
  | 'taken'
  | 'late'
  | 'restarted'
  | 'unreachable'
  | 'failed'

/** A member of a multi lock or a RedLock, in an error. Plain data that can be logged: no client and no URL in it. */
export interface LockMember {
  /** The member's name. */
  readonly lockName: string
  /** What became of it. */
  readonly state: LockMemberState
  /** What it met. */
  readonly error?: {
    /** Its code, where it has one: as of every error of this package. */
    readonly code?: string
    /** Its message. */
    readonly message: string
  }
}

/** A RedLock was not acquired: too few of its members could be reached, or they answered too late. */
export class LockQuorumError extends RedissonError {
  override readonly code = 'LOCK_QUORUM'

  constructor(
    message: string,
    /** What a RedLock is called in messages. */
    readonly lockName: string,
    /** What became of each member. */
    readonly members: readonly LockMember[],
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The server could not be reached, or answered nothing but transient errors, for as long as the call may wait. */
export class RedisUnavailableError extends RedissonError {
  override readonly code = 'REDIS_UNAVAILABLE'
}

/**
 * The server refused, and would refuse again: a right is missing (NOPERM), the credentials are wrong (NOAUTH,
 * WRONGPASS), or it does not know a command.
 */
export class RedisRefusedError extends RedissonError {
  override readonly code = 'REDIS_REFUSED'

  constructor(
    message: string,
    /** The text of the server's reply, without credentials; undefined where a script met it and did not pass it on. */
    readonly reply: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The key holds something that is no lock of this kind. */
export class WrongTypeError extends RedissonError {
  override readonly code = 'WRONG_TYPE'
}
