import type { LogicalThread } from '../ownership/logical-thread'
import type { ScriptCall } from '../scripts/script-call'

/** What one try was answered: granted, perhaps with a payload, or blocked for so many ms (-1: without expiry). */
export type Outcome<Grant> = (
  | { readonly granted: true; readonly grant: Grant }
  | { readonly granted: false; readonly blockedFor: number }
) & {
  /** How much is left of what is shared in parts: waiters that need more than that need not ask. */
  readonly left?: number | undefined
}

/** A grant without a payload. */
export const GRANTED: Outcome<undefined> = { granted: true, grant: undefined }

export function blocked(blockedFor: number): Outcome<never> {
  return { granted: false, blockedFor }
}

/** What a waiter asks for: how to try once, and how to take back what a try may have been granted. */
export interface Attempt<Grant> {
  /** How long to wait at most, in ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  /** After a grant, the next local waiter need not try again for this long, in ms, unless it is notified. */
  readonly lease: number
  /** What is waited for, for messages: `the lock "name"`. */
  readonly subject: string
  /** How much it needs of what is shared in parts; absent: one. */
  readonly needs?: number
  /** The logical thread that waits, where it matters which one does. */
  readonly thread?: LogicalThread | undefined
  /** It has waited for long: warns if it waits for what its own thread holds through another client. */
  warnOfSelfWait?(): void
  /** It has waited for long. */
  waitedLong?(): void
  /** Sends one try. */
  send(): ScriptCall<Outcome<Grant>>
  /** Sends one try that takes over from a hold of this client. Absent where there is no local handoff. */
  takeOver?(giver: string): ScriptCall<Outcome<Grant>>
  /**
   * The waiter has left. Releases what `inFlight` may be granted; without it, what earlier tries may have been granted;
   * and what a late copy of one may yet be, where `lateCopyPossible`. Absent where a try changes nothing on the server.
   */
  undo?(inFlight: ScriptCall<Outcome<Grant>> | undefined, lateCopyPossible: boolean): void
  /** The waiter has left, granted or not: withdraws from a queue on the server. */
  left?(granted: boolean): void
}
