import type { LogicalThread } from '../ownership/logical-thread'
import type { ScriptCall } from '../scripts/script-call'

/** The answer to one try: granted, perhaps with a payload, or blocked for this many ms (-1: without expiry). */
export type Outcome<Grant> = (
  | { readonly granted: true; readonly grant: Grant }
  | { readonly granted: false; readonly blockedFor: number }
) & {
  /** How many permits are free after this try, for a semaphore; below 0: there is no such semaphore, or it is in debt. */
  readonly left?: number | undefined
  /** When the object was last open, for one that opens for all waiters and may close again. */
  readonly opening?: Opening
}

export interface Opening {
  /** Another one for each opening; empty where none is known. */
  readonly id: string
  /** How long ago it was when the try was answered, in ms. */
  readonly ago: number
}

/** A grant without a payload. */
export const GRANTED: Outcome<undefined> = { granted: true, grant: undefined }

export function blocked(blockedFor: number): Outcome<never> {
  return { granted: false, blockedFor }
}

/** The acquisition of one waiter: how to try once, and how to undo what a try may have been granted. */
export interface Attempt<Grant> {
  /** How long to wait at most, in ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  /** After a grant, the next local waiter need not try again for this long, in ms, unless it is notified. */
  readonly lease: number
  /** The object that the caller waits for, for messages: `the lock "name"`. */
  readonly subject: string
  /** The thread id on the wire, for messages; absent where the object has no owners. */
  readonly threadId?: number
  /** The logical thread that waits. When an ancestor of it acquires the lock, the waiter re-enters that hold. */
  readonly thread?: LogicalThread | undefined
  /** Called after a long wait: warns if its own thread holds the lock through another client. */
  warnOfSelfWait?(): void
  /** Called after a long wait. `first`: the attempt of the first waiter, behind which this one waits; perhaps this one. */
  waitedLong?(first: Attempt<unknown> | undefined): void
  /** Sends one try. */
  send(): ScriptCall<Outcome<Grant>>
  /** Sends one try that takes over from a hold of this client. Absent where there is no local handoff. */
  takeOver?(giver: string): ScriptCall<Outcome<Grant>>
  /**
   * The waiter has left. Releases what `inFlight` may be granted. Without `inFlight` it releases what earlier tries may have
   * been granted. Absent where a try changes nothing on the server.
   */
  undo?(inFlight: ScriptCall<Outcome<Grant>> | undefined): void
  /** The waiter has left, with or without a grant: withdraws from a queue on the server. */
  left?(granted: boolean): void
}
