import type { History } from '../../../../tools/simulator/judge/history'
import type { Violation as Judged, Rule } from '../../../../tools/simulator/judge/violation'
import type { FaultKind } from '../plan/catalogue'

/**
 * What breaks a rule of the simulator's judge, and what is known of processes in real time alone:
 *
 * - `starved`: a process with no fault of its own gets less than a fifth of its share of a lock
 * - `standstill`: no caller comes in though a process with no fault of its own wants to
 * - `silent`: the messages of a client were refused, and it raised no `error` event
 * - `wrong-database`: there are keys in a database that no process was given
 * - `stuck`: a process never came to an end of its turns
 * - `unexpected`: an error that the contract does not know, or a worker that ended by itself
 */
export type ViolationKind =
  | Rule
  | 'starved'
  | 'standstill'
  | 'silent'
  | 'wrong-database'
  | 'stuck'
  | 'unexpected'

export interface Violation {
  readonly kind: ViolationKind
  /** ms since the first record. */
  readonly afterMs: number
  /** The fault that is most likely behind it. */
  readonly fault: FaultKind | undefined
  readonly what: string
  /** What was recorded before, as a text. */
  readonly context: readonly string[]
  /** The same, to be drawn; absent where the records do not show it. */
  readonly shown?: { readonly history: History; readonly violation: Judged } | undefined
}
