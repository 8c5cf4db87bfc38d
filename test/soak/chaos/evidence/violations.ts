import type { FaultKind } from '../plan/catalogue'
import type { Disturbance, Disturbances } from './disturbances'
import { isJava } from './sections'
import type { Trace } from './trace'

/**
 * - `overlap`: two inside that exclude each other, the first not notified before the second came in
 * - `lost-update`: a section wrote over what another had written since it read
 * - `asleep`: waiters slept though the lock was free
 * - `stuck`: a waiter never came in
 * - `unexplained-loss`: a hold that the watchdog keeps was lost though nothing was broken
 * - `held-unused`: the lock is kept though no caller is inside
 * - `starved`: a process with no fault of its own gets less than a fifth of its share of a lock
 * - `standstill`: no caller comes in though a process with no fault of its own wants to
 * - `silent`: the messages of a client were refused, and it raised no `error` event
 * - `wrong-database`: there are keys in a database that no process was given
 * - `overtaken`: a waiter of a fair lock was passed by one that came after it had its place
 * - `token`: a fencing token that is not above that of the section before
 * - `overfull`: more permits are in use than there are
 * - `permits`: the permits that are free and those in use are not as many as there are
 * - `early`: a latch opened, or its count fell, though it was not counted down so often
 * - `never`: a latch stayed closed though it was counted down to zero
 * - `leak`: keys, channels, timers or state are left at the end
 * - `unexpected`: an error that the contract does not know, or a worker that ended by itself
 */
export type ViolationKind =
  | 'overlap'
  | 'lost-update'
  | 'asleep'
  | 'stuck'
  | 'unexplained-loss'
  | 'held-unused'
  | 'starved'
  | 'standstill'
  | 'silent'
  | 'wrong-database'
  | 'overtaken'
  | 'token'
  | 'overfull'
  | 'permits'
  | 'early'
  | 'never'
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
  /** The same, to be drawn; absent where nothing was recorded of it. */
  readonly trace?: Trace | undefined
}

/** An `error` event of a client that could not publish comes within this much (µs) of the time in which it could not. */
const COMPLAINS_WITHIN = 2_000_000
const ABOUT_PUBLISHING = /publish|channel|NOPERM/i

/** Finds clients whose messages were refused, so that others slept on, and that raised no `error` event. */
export class Complaints {
  private readonly heard: { readonly worker: string; readonly at: number }[] = []
  private readonly judged = new Set<Disturbance>()

  constructor(private readonly disturbances: Disturbances) {}

  /** A worker's client raised an `error` event. */
  complained(worker: string, message: string, at: number): void {
    if (ABOUT_PUBLISHING.test(message)) this.heard.push({ worker, at })
  }

  /** Answers each refusal that passed in silence, once. */
  look(now: number): { refusal: Disturbance; worker: string }[] {
    return this.disturbances.all.flatMap((refusal) => {
      const { kind, target, from, to } = refusal
      if (kind !== 'publish-refused' || target === undefined || isJava(target)) return []
      if (to + COMPLAINS_WITHIN > now || this.judged.has(refusal)) return []
      this.judged.add(refusal)
      const isReported = this.heard.some(
        ({ worker, at }) => worker === target && at >= from && at <= to + COMPLAINS_WITHIN,
      )
      return isReported || this.isExcused(refusal, target) ? [] : { refusal, worker: target }
    })
  }

  /** Something else was broken meanwhile: perhaps it released nothing. */
  private isExcused(refusal: Disturbance, target: string): boolean {
    return this.disturbances.all.some(
      (other) =>
        other !== refusal &&
        other.from <= refusal.to &&
        other.to >= refusal.from &&
        (other.worker === undefined || other.worker === target),
    )
  }
}
