import type { LockLostError } from './errors'

/** A hold of this client was lost: somebody else may be inside. */
export interface LockLostEvent {
  readonly lockName: string
  /** The hold's thread id on the wire. */
  readonly threadId: number
  /** `lease`: not renewed in time; `gone`: the server no longer knew it; `forced`: released by force from here. */
  readonly reason: 'lease' | 'gone' | 'forced'
  readonly error: LockLostError
}

/**
 * A renewal failed or is overdue. It goes on being tried until the lease has surely ended. Told once a hold and
 * outage: again only after a renewal has succeeded in between.
 */
export interface RenewalFailedEvent {
  readonly lockName: string
  readonly threadId: number
  readonly error: unknown
}

/** The events of a Redisson client. Listeners run outside any logical thread. */
export interface RedissonEvents {
  /** Not for an explicit lease that ran out: that is what it was for. */
  lockLost: (event: LockLostEvent) => void
  renewalFailed: (event: RenewalFailedEvent) => void
  /**
   * A connection failed, the server declines commands (LOADING, READONLY, CLUSTERDOWN, BUSY …) or refused a
   * subscription, or a listener threw.
   *
   * Trouble is told once an outage, when it begins, however many calls meet it and however often they are
   * tried again; each of those succeeds or fails by itself. A connection that is back at once, or a slot on the
   * move, is none. The outage is over once something was answered again, and nothing failed for five seconds.
   */
  error: (error: Error) => void
}
