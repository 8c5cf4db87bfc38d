import { type PublishEnd, publishHold } from '../api/diagnostics'
import type { EventOrigin } from '../api/events'
import type { LogicalThread } from '../ownership/logical-thread'
import type { Clock } from '../util/clock'
import { LazySignal } from '../util/lazy-signal'
import type { LeaseBook } from './lease-book'
import type { Leased, Renewable } from './leased'

/**
 * The final states:
 *
 * - `released`: by its holder
 * - `expired`: its explicit lease ended
 * - `lost`: its holder could count on it still: it is gone before its explicit lease ended, or its deadline
 *   passed although the watchdog renewed it, or its `maxHoldTime` is over, or a client released it by force
 */
type LeaseEnd = 'released' | 'expired' | 'lost'

/**
 * - `held`: this client holds it, as far as it knows
 * - `releasing`: its holder has released it, and the server has not answered
 */
type LeaseState = 'held' | 'releasing' | LeaseEnd

/**
 * Why a lease ended without a release: its deadline passed, its holder reached its `maxHoldTime`, the server
 * no longer has it, or it was released by force.
 */
export type LossReason = 'lease' | 'limit' | 'gone' | 'forced'

/**
 * A grant that expires unless it is renewed. It knows nothing of levels or kinds of locks.
 *
 * | what happens                                 | if `held`                             | if `releasing`                        |
 * | -------------------------------------------- | ------------------------------------- | ------------------------------------- |
 * | its holder releases it                       | `releasing`, before anything is sent  |                                       |
 * | its holder leaves it to its lease            | `released`                            |                                       |
 * | the server answers that it had it            |                                       | `released`                            |
 * | its release, or a partial one: it is gone    | `lost`                                | `lost`; `expired` after its own lease |
 * | its release is not answered                  |                                       | `released`; an orphan of it           |
 * | its deadline passes                          | `lost`; after its own lease `expired` | stays so                              |
 * | another answer, or a later grant: it is gone | `lost`                                | stays so                              |
 * | this client releases it by force             | `lost`                                | stays so                              |
 * | its client is shut down                      | stays so, and its signal aborts       | stays so                              |
 *
 * A lease that has ended is in no registry. `expired` and `lost` abort its signal.
 */
export abstract class Lease implements Renewable {
  abstract readonly leased: Leased
  abstract readonly ownerField: string
  abstract readonly book: LeaseBook
  /** Where the code of the user acquired it, in development. */
  readonly at: string | undefined
  private current: LeaseState = 'held'
  private reason: LossReason | undefined
  /** Publishes how it ended, once. Set where somebody subscribed to `rlock:hold` when it began. */
  private publishEnd: PublishEnd | undefined
  private readonly loss = new LazySignal()

  get objectId(): string {
    return this.leased.objectId
  }

  get state(): LeaseState {
    return this.current
  }

  /** Whether its state is final. */
  get hasEnded(): boolean {
    return this.current !== 'held' && this.current !== 'releasing'
  }

  /** Why it ended without a release. */
  get lossReason(): LossReason | undefined {
    return this.reason
  }

  /** The logical thread that has it, if there is one. */
  get thread(): LogicalThread | undefined {
    return undefined
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

  /** Its begin is published, and so will be its end. */
  trace(origin: EventOrigin, clock: Clock): void {
    this.publishEnd = publishHold(this, origin, clock)
  }

  /** Its holder releases it: the answer of the server ends it. */
  beginRelease(): void {
    if (this.current === 'held') this.current = 'releasing'
  }

  /** Ends it. Nothing changes a final state. `error`: for its holder, if it was not released. */
  end(outcome: LeaseEnd, error?: unknown, reason?: LossReason): void {
    if (this.hasEnded) return
    this.current = outcome
    this.reason = reason
    if (outcome !== 'released') this.loss.abort(error)
    this.publishEnd?.(outcome, error)
  }

  /** Its client is shut down. It stays as it is, so that it can still be released. */
  shutDown(error: unknown): void {
    this.loss.abort(error)
    this.publishEnd?.('shutdown')
  }
}
