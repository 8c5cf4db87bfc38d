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
 * A renewal failed or is overdue. It goes on being tried until the lease has surely ended. Reported once a hold and
 * outage: again only after a renewal has succeeded in between.
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
  /** Not for an explicit lease that ran out: that is what it was for. */
  lockLost: (event: LockLostEvent) => void
  /** Not for an explicit lease that ran out. */
  permitLost: (event: PermitLostEvent) => void
  /** A renewal failed or is overdue; the lock may still be renewed in time. */
  renewalFailed: (event: RenewalFailedEvent) => void
  /**
   * A connection failed, the server declines commands (LOADING, READONLY, CLUSTERDOWN, BUSY, OOM …), refused a
   * command, a subscription or the message of a release (a RedisRefusedError that says what to grant), or a
   * listener threw.
   *
   * Trouble is reported once an outage, when it begins, however many calls meet it and however often they are
   * tried again; each of those succeeds or fails by itself. A connection that is back at once, or a slot on the
   * move, is none. The outage is over once something was answered again, and nothing failed for five seconds.
   */
  error: (error: Error) => void
}
