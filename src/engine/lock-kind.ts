import type { ScriptCall } from '../scripts/script-call'
import type { WaitTarget } from '../waiting/admission'
import type { Attempt, Outcome, ThreadAttempt } from '../waiting/attempt'
import type { Caller, Hold } from './hold'
import type { LeasedLock } from './leased-lock'
import type { ReleaseReply } from './release-reply'

/** What a grant brings beside the lock, such as a fencing token. Release and loss do not depend on it. */
// biome-ignore lint/suspicious/noExplicitAny: each kind of lock has payloads of its own.
export type Payload = any

/** The answer to a re-entry. */
export interface ReenterReply {
  /** When the lease ends now, by the server's clock in ms; 0: the hold is gone. */
  readonly leaseEnd: number
  readonly grant: Payload
}

/** The part of a call that its attempts need. */
export interface AttemptOptions extends Pick<Attempt<Payload>, 'signal'> {
  readonly caller: Caller
  readonly lease: number
}

/** The attempt of one new owner at a lock. */
export interface LockAttempt extends ThreadAttempt<Payload> {
  /** The queue that it joins. */
  readonly target: WaitTarget
  /** The hash field, or the token, that marks the owner in Redis. */
  readonly owner: string
  readonly threadId: number
  readonly lease: number
  undo(inFlight: ScriptCall<Outcome<Payload>> | undefined): void
}

/** One kind of re-entrant lock: its names, and the calls of its scripts. */
export interface LockKind extends WaitTarget, LeasedLock {
  /** A re-entry adds its lease to what is left of the last one, on the server, as Java does. */
  readonly addsLeases?: boolean
  /** How a log shows the lock; absent: as an RLock. */
  readonly shownAs?: string
  /** `waitTime`: what is left of the wait. Throws if the caller would wait for itself. */
  newAttempt(options: AttemptOptions, waitTime: number): LockAttempt
  /** Throws where the lock is not re-entrant, for a caller that has this hold and acquires it again. */
  refuseReentry?(hold: Hold, caller: Caller): never
  /**
   * Sets the count, and answers when the lease ends now. `releasedEnd` is the end that the last partial
   * release of this hold saw, or 0.
   */
  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall<ReenterReply>
  forceRelease(owners: readonly string[]): ScriptCall<ReleaseReply>
}
