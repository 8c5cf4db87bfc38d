import type { HoldOutcome } from '../api/diagnostics'
import type { LogicalThread } from '../ownership/logical-thread'
import type { ScriptExecutor } from '../scripts/executor'
import { type ScriptName, script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { LazySignal } from '../util/lazy-signal'
import type { LeaseBook } from './lease-book'

/**
 * - `held`: this client holds it, as far as it knows
 * - `lost`: it is gone although the watchdog renewed it, or a client released it by force
 * - `expired`: its explicit lease ended
 * - `released`: its holder released it
 */
export type LeaseState = 'held' | 'lost' | 'expired' | 'released'

/**
 * Why a lease ended without a release: its deadline passed, its holder reached its `maxHoldTime`, the server
 * no longer has it, or it was released by force.
 */
export type LossReason = 'lease' | 'limit' | 'gone' | 'forced'

/** The names of an object, in this client and in Redis. */
export interface ObjectNames {
  /** Which kind of object it is, for events and lists: `lock`, `read`, `write` and so on. */
  readonly kind: string
  /** The name as the user knows it. */
  readonly name: string
  /** Identifies it within the client; another one where an object has several queues. */
  readonly objectId: string
  /**
   * Its id, and those of the queues and holds on the same object: these holds keep its waiters out, and their
   * ends wake them.
   */
  readonly relatedIds: readonly string[]
  readonly key: string
  readonly channel: string
}

/** The object that is leased, and how its leases are renewed. */
export interface Leased extends ObjectNames {
  readonly renewal: Renewal
  /** Several owners may hold it together. */
  readonly shared?: boolean
}

/** How the leases of one kind are renewed: many in one call, with an answer for each. */
export interface Renewal {
  /**
   * Answers for each lease when it ends now, by the server's clock in ms; 0: it is gone. With `acknowledged`,
   * a replica must have the renewal before the answer counts.
   */
  renew(
    scripts: ScriptExecutor,
    leases: readonly Lease[],
    duration: number,
    acknowledged: boolean,
  ): ScriptCall<readonly number[]>
}

/**
 * Renews leases by a script of this name. `keyOf` and `wordsOf`: what the script takes for each lease;
 * usually key and owner.
 */
export function renewalBy(
  name: ScriptName,
  keyOf = ({ leased }: Lease) => leased.key,
  wordsOf = ({ ownerField }: Lease): readonly string[] => [ownerField],
): Renewal {
  const renew = script(name, (raw) => raw as readonly number[])
  return {
    renew: (scripts, leases, duration, acknowledged) =>
      scripts.run(renew, leases.map(keyOf), [duration, ...leases.flatMap(wordsOf)], acknowledged),
  }
}

/** A grant that expires unless it is renewed. It knows nothing of levels, threads or kinds of locks. */
export abstract class Lease {
  private current: LeaseState = 'held'
  lossReason: LossReason | undefined
  /** Where the code of the user acquired it, in development. */
  at: string | undefined
  /** The logical thread that acquired it, if there is one. */
  thread: LogicalThread | undefined
  /** Publishes how it ended. Set where somebody subscribed to `rlock:hold` when it began. */
  publishEnd: ((outcome: HoldOutcome, error?: unknown) => void) | undefined
  private readonly loss = new LazySignal()

  constructor(
    readonly leased: Leased,
    /** The hash field, or the token, that marks the holder in Redis. */
    readonly ownerField: string,
    readonly book: LeaseBook,
  ) {}

  get objectId(): string {
    return this.leased.objectId
  }

  get state(): LeaseState {
    return this.current
  }

  /** Whether the watchdog renews it. Otherwise it ends with its lease. */
  abstract get needsWatchdog(): boolean
  /** The owner as users may see it. */
  get owner(): string {
    return this.ownerField
  }

  /** For messages: the holder as users know it. */
  abstract get holder(): string
  /** Ends it without a release, and notifies its holder. */
  abstract lose(reason: LossReason): void
  /** Reports that a renewal failed or is overdue. */
  abstract renewalFailed(error: unknown): void

  /** Whether this client still holds it, as far as it knows. Ends it if its deadline has passed. */
  checkLive(): boolean {
    if (this.state === 'held' && this.book.isPastDeadline) this.lose(this.book.deadlineReason)
    return this.state === 'held'
  }

  /** No descendant may enter below it any more: it has ended, or its client shuts down. */
  refuseEntry(): void {}

  /** Aborts when it ends without a release. */
  get signal(): AbortSignal {
    return this.loss.signal
  }

  /** Its holder releases it. */
  protected released(): void {
    this.current = 'released'
  }

  /** Ends it without a release. */
  protected end(state: 'lost' | 'expired', reason: unknown): void {
    this.current = state
    this.abortSignal(reason)
  }

  /** Aborts the signal and leaves the lease as it is, so that it can still be released. */
  abortSignal(reason: unknown): void {
    const outcome = this.state === 'held' ? 'shutdown' : this.state
    this.loss.abort(reason)
    this.publishEnd?.(outcome, reason)
  }
}
