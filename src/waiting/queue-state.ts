import type { LeaseRegistry } from '../leases/lease-monitor'
import type { Moment } from '../util/clock'
import { RearmableTimer } from '../util/rearmable-timer'
import type { WaitTarget } from './admission'
import { SHORT_WAIT } from './cohort'
import type { SelfDeadlockWarning } from './self-deadlock-warning'
import type { Subscriptions } from './subscriptions'
import type { AnyWaiter, WaitSettings } from './waiter'

/** After this long without an answer, in ms, the server counts as silent and not as slow. */
const SILENT_AFTER = 3_000

/** What a queue does. */
type Phase =
  /** It has no waiter, or has not begun. */
  | 'idle'
  /** Tries of it are in flight. */
  | 'trying'
  /** The same, and a wake-up has come since they were sent. */
  | 'woken'
  /** It waits for a message, until a time. */
  | 'sleeping'
  /** The same, and the object may become free without a message. */
  | 'polling'
  /** It leaves the object to other processes, until a time. */
  | 'yielding'

/** The part of the client that a queue uses. */
export interface WaitEnvironment extends WaitSettings {
  /** The longest sleep behind a key without expiry, in ms. */
  readonly longestSleep: number
  readonly subscriptions: Subscriptions
  readonly leases: LeaseRegistry
  readonly selfWait: SelfDeadlockWarning
  /** The queues that callers may join. A queue for one try is not among them. */
  readonly queues: Pick<Map<string, unknown>, 'get' | 'delete'>
}

/** What a queue does, which tries of it are in flight, and what the answers say of its object. */
export abstract class QueueState {
  protected phase: Phase = 'idle'
  protected timer: RearmableTimer | undefined
  /** How many tries have no answer yet. */
  protected unanswered = 0
  /** The last answer said that the object is held, or this client holds it. */
  protected knownHeld = false
  /** Since when the server has answered no try that is in flight. */
  protected silentSince: Moment | undefined

  abstract readonly target: WaitTarget
  abstract readonly environment: WaitEnvironment

  /** Whether the object is known to be held, and the server has not been silent since. */
  isKnownHeld(): boolean {
    const { knownHeld, silentSince } = this
    return knownHeld && (!silentSince || this.environment.clock.elapsedSince(silentSince) < SILENT_AFTER)
  }

  /** It is not known that the object is held, or it may have become free without a message. */
  mayBeFree(): boolean {
    return this.phase === 'polling' || !this.isKnownHeld()
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

  /** Tries after this long, in ms. */
  protected rest(phase: 'sleeping' | 'polling' | 'yielding', time: number): void {
    this.phase = phase
    this.timer ??= new RearmableTimer(this.environment.clock, () =>
      this.phase === 'yielding' ? this.tryNow() : this.tryInTurn(),
    )
    this.timer.set(time)
  }
}
