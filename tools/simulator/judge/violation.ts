import type { Time } from './history'

export type Rule =
  | 'exclusion'
  | 'owners'
  | 'token'
  | 'permits'
  | 'latch'
  | 'held-again'
  | 'rate'
  | 'asleep'
  | 'unanswered'
  | 'local-order'
  | 'fair-order'
  | 'lost-place'
  | 'noticed-late'
  | 'unexplained-loss'
  | 'limit'
  | 'unexpected-error'
  | 'run-again'
  | 'left-over'
  | 'not-linearizable'

/** What a history has that docs/guarantees.md excludes. */
export interface Violation {
  readonly rule: Rule
  readonly at: Time
  /** The object, or the client where there is none. */
  readonly name: string
  readonly what: string
  /** Positions of the events that show it, for the story. */
  readonly events: readonly number[]
}

export const ms = (time: number): string => `${Math.round(time * 1000) / 1000} ms`
