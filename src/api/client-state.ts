/** A lock or a permit that a client holds at this moment. */
export interface HeldLock {
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The lock's name. */
  readonly lockName: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** How long it has been held, in ms. */
  readonly heldFor: number
  /** How long it would last without another renewal, in ms, as far as this client knows. */
  readonly remaining: number
  /** Whether the watchdog renews it. Otherwise it ends with its lease. */
  readonly isRenewed: boolean
}

/** A caller of a client that waits at this moment. */
export interface WaitingCaller {
  /** What it waits for, as messages call it: `the lock "order:42"`. */
  readonly subject: string
  /** The key in Redis. */
  readonly key: string
  /** How long it has waited, in ms. */
  readonly waitingFor: number
  /** How long it still waits at most, in ms; undefined: without limit. */
  readonly remaining: number | undefined
}

/** How many things a client keeps at this moment. */
export interface ClientStats {
  /** Locks and permits that are held. */
  readonly held: number
  /** Callers that wait. */
  readonly waiting: number
  /** Channels to which the client listens, or listened until a moment ago. */
  readonly channels: number
  /** Script calls without an answer yet. */
  readonly inFlight: number
  /**
   * Releases in the background: of cancelled acquisitions, and of locks whose release was not answered.
   */
  readonly releasing: number
}
