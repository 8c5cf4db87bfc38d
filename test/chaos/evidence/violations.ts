import type { FaultKind } from '../plan/catalogue'

/**
 * - `overlap`: two inside that exclude each other, the first not told before the second came in
 * - `lost-update`: a section wrote over what another had written since it read
 * - `asleep`: waiters slept though the lock was free
 * - `stuck`: a waiter never came in
 * - `unexplained-loss`: a hold that the watchdog keeps was lost though nothing was broken
 * - `held-by-nobody`: the lock is kept though nobody is inside
 * - `leak`: keys, channels, timers or state are left at the end
 * - `unexpected`: an error that the contract does not know, or a worker that ended by itself
 */
export type ViolationKind =
  | 'overlap'
  | 'lost-update'
  | 'asleep'
  | 'stuck'
  | 'unexplained-loss'
  | 'held-by-nobody'
  | 'leak'
  | 'unexpected'

export interface Violation {
  readonly kind: ViolationKind
  /** ms since the first record. */
  readonly afterMs: number
  /** The fault that is most likely behind it. */
  readonly fault: FaultKind | undefined
  readonly what: string
  /** What was recorded of the lock just before, and what was broken, oldest first. */
  readonly context: readonly string[]
}
