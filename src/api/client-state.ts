/** Something that a client holds at this moment. */
export interface HeldLock {
  /** Which kind of lock: `lock`, `read`, `write`, `fenced` and so on. */
  readonly kind: string
  /** The lock's name. */
  readonly lockName: string
  /** The owner as Redis has it: the hash field. */
  readonly owner: string
  /** For how long it has been held, in ms. */
  readonly heldFor: number
  /** How long it would last without another renewal, in ms, by what this client knows. */
  readonly remaining: number
  /** Whether the watchdog renews it; else its lease ends it. */
  readonly isRenewed: boolean
}

/** How much a client has in hand at this moment. */
export interface ClientStats {
  /** Locks and permits that are held. */
  readonly held: number
  /** Callers that wait. */
  readonly waiting: number
  /** Channels that are listened to, or were until a moment ago. */
  readonly channels: number
  /** Scripts whose answer is awaited. */
  readonly inFlight: number
  /**
   * Releases that go on in the background: of acquisitions that were given up, and of locks whose release was not
   * answered.
   */
  readonly releasing: number
}
