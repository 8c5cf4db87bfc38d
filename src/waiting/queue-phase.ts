import type { LeaseRegistry } from '../leases/lease-monitor'
import type { Moment } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import type { Admission, Waiters, WaitTarget } from './admission'
import { SHORT_WAIT } from './cohort'
import type { SelfDeadlockWarning } from './self-deadlock-warning'
import type { Subscriptions } from './subscriptions'
import type { AnyWaiter, WaitSettings } from './waiter'

/** After this long without an answer, in ms, the server counts as silent and not as slow. */
const SILENT_AFTER = 3_000

/** What a queue does. The table of its phases stands above the class. */
type QueuePhase =
  /** It has no waiter, or has not begun. */
  | 'idle'
  /** Tries of it are in flight. */
  | 'trying'
  /** The same, and a wake-up has come since they were sent. */
  | 'woken'
  /** It waits for a message, until a time. */
  | 'sleeping'
  /** The same, and the object may become free without a message. */
  | 'rechecking'
  /** It leaves the object to other processes, until a time. */
  | 'yielding'

/** The part of the client that a queue uses. */
export interface WaitEnvironment extends WaitSettings {
  /** The longest sleep where no time to live ends it, in ms. */
  readonly longestSleep: number
  readonly subscriptions: Subscriptions
  readonly leases: LeaseRegistry
  readonly selfWait: SelfDeadlockWarning
  /** The queues that callers may join. A queue for one try is not among them. */
  readonly queues: Pick<Map<string, unknown>, 'get' | 'delete'>
}

/**
 * The phase of a queue, which tries of it are in flight, and what the answers say of its object. At rest it
 * sleeps, rechecks or yields. "Tries": its first waiters do, but if it is the turn of other processes, it
 * yields. "Tries now": without that.
 *
 * | Phase                | Event                                          | What it does          | Phase after |
 * | -------------------- | ---------------------------------------------- | --------------------- | ----------- |
 * | idle                 | a waiter joins                                 | tries                 | trying      |
 * | idle                 | the same, behind a hold of this client         |                       | at rest     |
 * | trying               | a wake-up                                      |                       | woken       |
 * | at rest              | a wake-up                                      | tries                 | trying      |
 * | yielding             | this client has released the object            | tries                 | trying      |
 * | at rest              | a hold of this client hands the lock on        | sends the handoff     | trying      |
 * | rechecking, yielding | a waiter is overdue                            | tries now             | trying      |
 * | at rest              | its last waiter leaves                         | stops listening       | idle        |
 * | trying, woken        | the last answer: none may enter now            | listens, if it did not |            |
 * | …                    | … and no wake-up came while it listened        |                       | at rest     |
 * | …                    | … and one came, or may have come               | tries                 | trying      |
 * | trying               | the last answer: more may enter                | tries now             | trying      |
 * | trying, woken        | the last answer, and no waiter is left         | stops listening       | idle        |
 * | trying, woken        | the last try failed, or its waiter has left    | tries                 | trying      |
 * | sleeping, rechecking | its time is over                               | tries                 | trying      |
 * | yielding             | its time is over                               | tries now             | trying      |
 */
export abstract class PhasedQueue implements Waiters {
  first: AnyWaiter | undefined
  protected last: AnyWaiter | undefined
  protected phase: QueuePhase = 'idle'
  protected timer: RearmableTimer | undefined
  /** How many tries have no answer yet. */
  protected unanswered = 0
  /** The last answer said that the object is held, or this client holds it. */
  protected knownHeld = false
  /** Since when the server has answered no try that is in flight. */
  protected silentSince: Moment | undefined
  protected stopWatching: (() => void) | undefined

  abstract readonly target: WaitTarget
  abstract readonly environment: WaitEnvironment
  abstract readonly admission: Admission
  protected abstract readonly isConfirmed: boolean;

  *[Symbol.iterator](): Iterator<AnyWaiter> {
    for (let waiter = this.first; waiter; ) {
      const { behind }: AnyWaiter = waiter
      yield waiter
      waiter = behind
    }
  }

  /** Whether the object is known to be held, and the server has not been silent since. */
  isKnownHeld(): boolean {
    const { knownHeld, silentSince } = this
    return knownHeld && (!silentSince || this.environment.clock.elapsedSince(silentSince) < SILENT_AFTER)
  }

  /** It is not known that the object is held, or it may have become free without a message. */
  mayBeFree(): boolean {
    return this.phase === 'rechecking' || !this.isKnownHeld()
  }

  /** How long, in ms, a hold of this client surely keeps the lock, unless a message comes. */
  protected surelyHeldFor(): number {
    const { leases, subscriptions } = this.environment
    const { book } = leases.first(this.target) ?? {}
    return book && subscriptions.isQuietSince(this.target.channel, book.term.since) ? book.remaining() : 0
  }

  /** All tries were answered, or their waiters have left, and the queue has not gone on yet. */
  protected get areTriesOver(): boolean {
    return this.unanswered === 0 && (this.phase === 'trying' || this.phase === 'woken')
  }

  /** How much of a yield this waiter leaves to others, in ms: half of its remaining wait at most. */
  protected yieldOf({ remainingWait }: AnyWaiter, time: number): number {
    return remainingWait <= SHORT_WAIT ? 0 : Math.min(time, remainingWait / 2)
  }

  protected abstract tryInTurn(): void
  protected abstract tryNow(): void

  /** Rests for this long, in ms, and then tries. */
  protected rest(phase: 'sleeping' | 'rechecking' | 'yielding', time: number): void {
    this.phase = phase
    this.timer ??= new RearmableTimer(this.environment.clock, () =>
      this.phase === 'yielding' ? this.tryNow() : this.tryInTurn(),
    )
    this.timer.set(time)
  }

  /** Sleeps until a message comes, for this long in ms at most. */
  protected sleep(time: number) {
    const { longestSleep, selfWait } = this.environment
    const recheckAfter = this.admission.recheckAfter(this.isConfirmed)
    const phase = recheckAfter < Number.POSITIVE_INFINITY ? 'rechecking' : 'sleeping'
    const longest = time === Number.POSITIVE_INFINITY ? longestSleep : Math.max(time, 1)
    this.rest(phase, Math.min(recheckAfter, longest))
    this.stopWatching ??= selfWait.watch(this.target, () => this)
  }
}
