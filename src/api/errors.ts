/**
 * Base of every error of this package. Calls also reject with TypeError and RangeError for bad arguments,
 * with the reason of a `signal` that aborts, and with what your own function throws.
 */
export abstract class RedissonError extends Error {
  /** Stable across versions and minification; compare this rather than the message. */
  abstract readonly code: string

  /** Also in a bundle, which may rename the class. */
  abstract override readonly name: string
}

/**
 * The caller does not hold the lock that it releases, or it acquires a lock twice at the same time. Java's
 * IllegalMonitorStateException.
 */
export class IllegalMonitorStateError extends RedissonError {
  override readonly name: string = 'IllegalMonitorStateError'
  override readonly code: string = 'ILLEGAL_MONITOR_STATE'
}

/**
 * The hold is gone although its caller did not release it: its lease ended, a client released the lock by
 * force, or the server lost the key. Another owner may hold the lock now.
 */
export class LockLostError extends IllegalMonitorStateError {
  override readonly name = 'LockLostError'
  override readonly code = 'LOCK_LOST'
  /** What the function of `withLock` returned, if it finished in spite of the loss. */
  result?: unknown
  /** For a multi lock or a RedLock: the state of each member. */
  members?: readonly LockMember[]
  /** Why a hold was lost, as in the event `lockLost`. */
  reason?: 'lease' | 'limit' | 'gone' | 'forced' | undefined

  constructor(
    message: string,
    /** The lock's name. */
    readonly lockName: string,
    /** The hold's thread id on the wire, if it is known. */
    readonly threadId?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The permits are no longer held: they were released already, or their leases ended. */
export class PermitNotHeldError extends RedissonError {
  override readonly name = 'PermitNotHeldError'
  override readonly code = 'PERMIT_NOT_HELD'
  /** What the function of `withPermit` returned, if it finished in spite of the loss. */
  result?: unknown
  /** Why a Permit was lost, as in the event `permitLost`. */
  reason?: 'lease' | 'limit' | 'gone' | undefined

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
  override readonly name = 'RedissonShutdownError'
  override readonly code = 'REDISSON_SHUTDOWN'
}

/** No replica acknowledged the acquisition within `slavesSyncTimeout`; the lock was released. */
export class LockNotReplicatedError extends RedissonError {
  override readonly name = 'LockNotReplicatedError'
  override readonly code = 'LOCK_NOT_REPLICATED'
}

/** `withLock` did not acquire the lock within its `waitTime`, because another owner held it. */
export class LockTimeoutError extends RedissonError {
  override readonly name = 'LockTimeoutError'
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
 * - `held`: this caller holds it
 * - `released`: this caller held it and released it
 * - `lost`: this caller held it, and the hold is gone
 * - `taken`: another owner holds it
 * - `late`: its acquisition was answered so late that too little of the lease was left
 * - `unreachable`: it did not answer
 * - `failed`: any other error
 */
export type LockMemberState = 'held' | 'released' | 'lost' | 'taken' | 'late' | 'unreachable' | 'failed'

/**
 * A member of a multi lock or a RedLock, in an error. It is plain data without a client or a URL, so it can
 * be logged.
 */
export interface LockMember {
  /** The member's name. */
  readonly lockName: string
  /** Its state. */
  readonly state: LockMemberState
  /** The error that the member met. */
  readonly error?: {
    /** Its code, if it has one. Every error of this package has one. */
    readonly code?: string
    /** Its message. */
    readonly message: string
  }
}

/** A RedLock was not acquired: too few of its members could be reached, or they answered too late. */
export class LockQuorumError extends RedissonError {
  override readonly name = 'LockQuorumError'
  override readonly code = 'LOCK_QUORUM'

  constructor(
    message: string,
    /** The name of the RedLock in messages. */
    readonly lockName: string,
    /** The state of each member. */
    readonly members: readonly LockMember[],
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The server could not be reached, or answered only transient errors, for as long as the call may wait. */
export class RedisUnavailableError extends RedissonError {
  override readonly name = 'RedisUnavailableError'
  override readonly code = 'REDIS_UNAVAILABLE'
}

/**
 * The server refused the command, and would refuse it again: a right is missing (NOPERM), the credentials are
 * wrong (NOAUTH, WRONGPASS), or the server does not know the command.
 */
export class RedisRefusedError extends RedissonError {
  override readonly name = 'RedisRefusedError'
  override readonly code = 'REDIS_REFUSED'

  constructor(
    message: string,
    /** The server's reply, without credentials. Undefined if a script received it and did not pass it on. */
    readonly reply: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The key holds something other than a lock of this kind. */
export class WrongTypeError extends RedissonError {
  override readonly name = 'WrongTypeError'
  override readonly code = 'WRONG_TYPE'
}

/**
 * The rate limiter has no rate: no client has called `trySetRate`, or it was deleted, or its `keepAliveTime`
 * is over.
 */
export class RateNotSetError extends RedissonError {
  override readonly name = 'RateNotSetError'
  override readonly code = 'RATE_NOT_SET'

  constructor(
    message: string,
    /** The name of the limiter. */
    readonly limiterName: string,
  ) {
    super(message)
  }
}
