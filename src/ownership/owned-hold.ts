import type { LogicalThread } from './logical-thread'

/** One acquisition within a hold. The engine above defines the rest. */
export interface OwnedLevel {
  readonly hold: OwnedHold
  /** The logical thread that acquired it; undefined for a caller without one. */
  readonly thread: LogicalThread | undefined
  /**
   * The levels among which an `unlock()` finds it; undefined: it has ended, or only its LockHold or
   * `withLock` releases it.
   */
  bareIn: { ended(level: OwnedLevel, loss?: unknown): void } | undefined
  /** Of a level that is held: for how long, in ms; Infinity: until its release. */
  readonly timeLeft: number
  /** Whether it is held, as far as this client knows. Reads the clock, and ends it if its time is over. */
  checkLive(): boolean
}

/** The part of a hold that this folder needs. */
export interface OwnedHold {
  readonly objectId: string
  /** For messages. */
  readonly holder: string
  readonly levels: ReadonlySet<OwnedLevel>
  /** Whether any of its levels is held, in the same way. */
  checkLive(): boolean
  /** How many levels it has; where a server counts them, by that server. For a hold that is held. */
  countLevels(): Promise<number>
}
