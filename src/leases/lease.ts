import type { ScriptExecutor } from '../scripts/executor'
import type { ScriptCall } from '../scripts/script-call'
import type { Clock, Moment } from '../util/clock'
import { LazySignal } from '../util/lazy-signal'
import { LeaseBook } from './lease-book'

/**
 * - `held`: this client holds it, as far as it knows
 * - `lost`: it is gone although the watchdog renewed it, or a client released it by force
 * - `expired`: its explicit lease ended
 * - `released`: its holder released it
 */
export type LeaseState = 'held' | 'lost' | 'expired' | 'released'

/** Why a lease ended without a release: its deadline passed, the server no longer has it, or it was released by force. */
export type LossReason = 'lease' | 'gone' | 'forced'

/** The object that is leased: its names in this client and in Redis, and how its leases are renewed. */
export interface Leased {
  /** Which kind of object it is: `lock`, `read`, `write` and so on. */
  readonly kind: string
  /** Identifies it within the client. */
  readonly lockId: string
  /** Its own id, and the ids of the other locks that may be acquired when it is free. */
  readonly lockIds: readonly string[]
  readonly name: string
  readonly key: string
  readonly channel: string
  readonly renewal: Renewal
}

/** How the leases of one kind are renewed: many in one call, with an answer for each. */
export interface Renewal {
  /**
   * Answers for each lease when it ends now, by the server's clock in ms; 0: it is gone. With `acknowledged`, a replica must
   * have the renewal before the answer counts.
   */
  renew(
    scripts: ScriptExecutor,
    leases: readonly Lease[],
    duration: number,
    acknowledged: boolean,
  ): ScriptCall<readonly number[]>
}

export function decodeLeaseEnds(raw: unknown): readonly number[] {
  return raw as number[]
}

/** A grant that expires unless it is renewed. It knows nothing of levels, threads or kinds of locks. */
export abstract class Lease {
  state: LeaseState = 'held'
  lossReason: LossReason | undefined
  /** When it ended without a release. */
  ended: Moment | undefined
  /** A process warning about local waiters that may wait for themselves was emitted for it. */
  warnedOfSelfWait = false
  readonly book: LeaseBook
  private readonly loss = new LazySignal()

  constructor(
    clock: Clock,
    protected readonly leased: Leased,
    /** The hash field, or the token, that marks the holder in Redis. */
    readonly ownerField: string,
    /** When the command that acquired it was sent. */
    acquired: Moment,
    /** The lease that the command asked for, in ms. */
    lease: number,
  ) {
    this.book = new LeaseBook(clock, acquired, lease)
  }

  get lockId(): string {
    return this.leased.lockId
  }

  get lockIds(): readonly string[] {
    return this.leased.lockIds
  }

  get kind(): string {
    return this.leased.kind
  }

  get lockName(): string {
    return this.leased.name
  }

  get key(): string {
    return this.leased.key
  }

  get channel(): string {
    return this.leased.channel
  }

  get renewal(): Renewal {
    return this.leased.renewal
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
    if (this.state === 'held' && this.book.isPastDeadline) this.lose('lease')
    return this.state === 'held'
  }

  /** No descendant may enter below it any more: it has ended, or its client shuts down. */
  refuseEntry(): void {}

  /** Aborts when it ends without a release. */
  get signal(): AbortSignal {
    return this.loss.signal
  }

  /** Ends it without a release. */
  protected end(state: 'lost' | 'expired', at: Moment, reason: unknown): void {
    this.state = state
    this.ended = at
    this.abortSignal(reason)
  }

  /** Aborts the signal and leaves the lease as it is, so that it can still be released. */
  abortSignal(reason: unknown): void {
    this.loss.abort(reason)
  }
}
