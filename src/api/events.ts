import type { LockLostError, PermitNotHeldError } from './errors'

/** What every event carries. An error of the `error` event carries it, too. */
export interface EventOrigin {
  /** The id of the client: `getId()`. */
  readonly clientId: string
  /** The address of Redis and the database, as the client was given them. */
  readonly address: string
}

/** Redis became unavailable. */
export interface UnavailableEvent extends EventOrigin {
  /** Why. */
  readonly error: Error
}

/** Redis is available again. */
export interface AvailableEvent extends EventOrigin {
  /** How long the outage lasted, from its first error to the first answer after its last one, in ms. */
  readonly lasted: number
}

/** A hold of this client was lost: another owner may hold the lock now. */
export interface LockLostEvent extends EventOrigin {
  /** The lock's name. */
  readonly lockName: string
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** The hold's thread id on the wire. */
  readonly threadId: number
  /**
   * `lease`: not renewed in time; `limit`: its `maxHoldTime` is over; `gone`: no longer on the server;
   * `forced`: this client released it by force.
   */
  readonly reason: 'lease' | 'limit' | 'gone' | 'forced'
  /** The reason with which the hold's signal aborts. */
  readonly error: LockLostError
}

/** A permit of this client that the watchdog renews was lost: another caller may have it now. */
export interface PermitLostEvent extends EventOrigin {
  /** The semaphore's name. */
  readonly semaphoreName: string
  /** The permit's id. */
  readonly permitId: string
  /** `lease`: not renewed in time; `limit`: its `maxHoldTime` is over; `gone`: no longer on the server. */
  readonly reason: 'lease' | 'limit' | 'gone'
  /** The reason with which the permit's signal aborts. */
  readonly error: PermitNotHeldError
}

/**
 * A renewal failed or is overdue. The client retries it until the lease has certainly ended. Each hold
 * reports this once for each outage: it reports again only after one of its renewals has succeeded.
 */
export interface RenewalFailedEvent extends EventOrigin {
  /** The name of the lock or semaphore. */
  readonly lockName: string
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** The hold's thread id on the wire; 0 for a permit. */
  readonly threadId: number
  /** The permit's id; absent for a lock. */
  readonly permitId?: string
  /** The error of the renewal. */
  readonly error: unknown
}

/**
 * The events of a Redisson client. A listener runs in the async context (AsyncLocalStorage) in which it was
 * added, and outside any logical thread. The context of the request that caused the event does not matter.
 */
export interface RedissonEvents {
  /**
   * A hold of this client was lost. The end of an explicit lease raises no event: the caller asked for it.
   */
  lockLost: (event: LockLostEvent) => void
  /** A permit of this client was lost. The end of an explicit lease raises no event. */
  permitLost: (event: PermitLostEvent) => void
  /** A renewal failed or is overdue; the lock may still be renewed in time. */
  renewalFailed: (event: RenewalFailedEvent) => void
  /**
   * An outage began: a connection failed, or the server declines commands. A brief reconnect or a slot
   * migration is no outage.
   */
  unavailable: (event: UnavailableEvent) => void
  /**
   * The outage is over: a command was answered again, or a connection is back, and nothing has failed for
   * five seconds.
   */
  available: (event: AvailableEvent) => void
  /**
   * One of these happened:
   * - A connection failed.
   * - The server declines commands (LOADING, READONLY, CLUSTERDOWN, BUSY, OOM …).
   * - The server refused a command, a subscription or the message of a release. The error is a
   *   RedisRefusedError that says which right to grant.
   * - A listener threw.
   *
   * The client reports an outage once, when it begins, however many calls fail and however often it retries
   * them, and once more for each further kind of trouble in it (a shortage, a refusal). Each of those calls
   * succeeds or fails on its own.
   */
  error: (error: Error & EventOrigin) => void
}
