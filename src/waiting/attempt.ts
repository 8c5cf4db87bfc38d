import type { LogicalThread } from '../ownership/logical-thread'
import type { Reply } from '../scripts/reply'
import type { AnyScriptCall, ScriptCall } from '../scripts/script-call'

/** How many times in all a client tries to acquire while no replica acknowledges. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/**
 * The answer to one try: granted, perhaps with a payload, or blocked for this many ms; Infinity: without
 * expiry.
 */
export type Outcome<Grant> =
  | {
      readonly granted: true
      readonly grant: Grant
    }
  | { readonly granted: false; readonly blockedFor: number }

/** A grant without a payload. */
export const GRANTED: Outcome<undefined> = { granted: true, grant: undefined }

/** `timeToLive`: as Redis answers it; below 0: without expiry. */
export function blocked(timeToLive: number): Outcome<never> {
  return { granted: false, blockedFor: timeToLive < 0 ? Number.POSITIVE_INFINITY : timeToLive }
}

/**
 * The answer of a script that acquires. nil: granted; a number: blocked for so many ms, -1 without expiry.
 * The answer 0 to a handoff says that the giver did not hold the lock.
 */
export function outcomeOf(raw: unknown): Outcome<undefined> {
  return raw === null ? GRANTED : blocked(Number(raw))
}

/** The reply to the try that was granted. */
export type GrantedReply<Grant> = Reply<Extract<Outcome<Grant>, { readonly granted: true }>>

/** The reply to the try that was granted, or undefined when the wait was over. */
export type WaitResult<Grant> = GrantedReply<Grant> | undefined

/** The result where an ancestor of the thread has acquired the lock: it enters below that hold. */
export type BelowHold = 'below a hold'

/** The acquisition of one waiter: what it wants, how to try once, and how to undo what a try may have got. */
export interface Attempt<Grant> {
  /** How long to wait at most, in ms; 0 or less: one try; Infinity: without limit. */
  readonly waitTime: number
  readonly signal: AbortSignal | undefined
  /** For how long the server keeps what it grants, in ms; absent where nothing ends it. */
  readonly lease?: number
  /** The thread id on the wire, for messages; absent where the object has no owners. */
  readonly threadId?: number
  /**
   * The logical thread that waits. When an ancestor of it acquires the lock, it is let in below that hold.
   */
  readonly thread?: LogicalThread | undefined
  /** Where the code of the user asked, in development. */
  at?: string | undefined
  /** Called after a long wait. */
  waitedLong?(): void
  /** Sends one try. */
  send(): ScriptCall<Outcome<Grant>>
  /** Sends one try that takes over from a hold of this client. Absent where there is no local handoff. */
  takeOver?(giver: string): ScriptCall<Outcome<Grant>>
  /**
   * What its tries were granted, or may be, does not count: releases what `inFlight` may be granted, or else
   * what the tries before were. Absent where a try changes nothing on the server.
   */
  undo?(inFlight: ScriptCall<Outcome<Grant>> | undefined): void
  /** Throws if the answer ended the wait and granted nothing. */
  assertGranted?(grant: Grant): void
  /**
   * The wait has ended, with or without a grant: withdraws from a queue on the server. `inFlight`: as for
   * `undo`.
   */
  ended?(granted: boolean, inFlight: AnyScriptCall | undefined): void
}

/** The acquisition of a caller that may have a logical thread. */
export interface ThreadAttempt<Grant> extends Attempt<Grant> {
  readonly thread: LogicalThread | undefined
}
