import type { OwnedLevel } from './bare-levels'

/** The part of a hold that this folder needs. The engine above defines the rest. */
export interface OwnedHold<L extends OwnedLevel = OwnedLevel> {
  readonly objectId: string
  readonly levels: Iterable<L>
  /** For messages. */
  readonly holder: string
  /** A `lock()` or `tryLock()` of the same callers has failed since it was acquired. */
  hasFailedBeside: boolean
  /** Whether it is held, as far as this client knows. Reads the clock. */
  checkLive(): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: each engine has levels of its own.
export type AnyHold = OwnedHold<any>

/** The levels of this type of hold. */
export type LevelOf<H extends AnyHold> = H extends OwnedHold<infer L> ? L : never
