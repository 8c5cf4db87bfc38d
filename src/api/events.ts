import type { LockLostError, PermitNotHeldError } from './errors'

/** A hold of this client was lost: another owner may be inside. */
export interface LockLostEvent {
  /** The lock's name. */
  readonly lockName: string
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** The hold's thread id on the wire. */
  readonly threadId: number
  /** `lease`: not renewed in time; `gone`: the server no longer knew it; `forced`: released by force from here. */
  readonly reason: 'lease' | 'gone' | 'forced'
  /** With which the hold's signal aborts. */
  readonly error: LockLostError
}

/** A permit of this client that renews itself was lost: another caller may have its place. */
export interface PermitLostEvent {
  /** The semaphore's name. */
  readonly semaphoreName: string
  /** The permit's id. */
  readonly permitId: string
  /** `lease`: not renewed in time; `gone`: the server no longer knew it. */
  readonly reason: 'lease' | 'gone' | 'forced'
  /** With which the permit's signal aborts. */
  readonly error: PermitNotHeldError
}

/**
 * A renewal failed or is overdue. The client retries it until the lease has certainly ended. Each hold reports this
 * once an outage: again only after one of its renewals has succeeded.
 */
export interface RenewalFailedEvent {
  /** The name of the lock or semaphore. */
  readonly lockName: string
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** 0 for a permit. */
  readonly threadId: number
  /** Of a permit. */
  readonly permitId?: string
  /** What the renewal met. */
  readonly error: unknown
}

/**
 * The events of a Redisson client. A listener runs in the async context (AsyncLocalStorage) in which it was added,
 * whichever request made the event happen, and outside any logical thread.
 */
export interface RedissonEvents {
  /** A hold of this client was lost. An explicit lease that runs out raises no event: the caller asked for that end. */
  lockLost: (event: LockLostEvent) => void
  /** A permit of this client was lost. An explicit lease that runs out raises no event. */
  permitLost: (event: PermitLostEvent) => void
  /** A renewal failed or is overdue; the lock may still be renewed in time. */
  renewalFailed: (event: RenewalFailedEvent) => void
  /**
   * A connection failed, the server declines commands (LOADING, READONLY, CLUSTERDOWN, BUSY, OOM …), refused a
   * command, a subscription or the message of a release (a RedisRefusedError that says what to grant), or a
   * listener threw.
   *
   * An outage is reported once, when it begins, however many calls fail and however often they are retried. Each of
   * those calls succeeds or fails by itself. A connection that is back at once is not an outage, and a slot migration is
   * not one. The outage is over when something was answered again and nothing has failed for five seconds.
   */
  error: (error: Error) => void
}
