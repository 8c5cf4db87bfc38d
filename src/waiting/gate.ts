import { RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify } from '../connection/failures'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Moment } from '../runtime/clock'
import type { Reply } from '../scripts/script-runner'
import { notReplicated, TRIES_FOR_ACKNOWLEDGEMENT } from './not-replicated'
import { type AcquireRequest, Waiter } from './waiter'

/** What a gate needs to know of its surroundings. */
export interface GateSurroundings {
  readonly clock: Clock
  /** When all readers may enter as soon as one may. */
  readonly shared: boolean
  /** Starts listening for messages; each calls `wake`. Returns how to stop. */
  listen(wake: () => void): () => void
  /** Whether messages surely arrive. */
  isConfirmed(): boolean
  /** How long to sleep before a lock without expiry. */
  readonly longestSleep: number
  readonly unavailableAfter: number
  /** A waiter sleeps behind the lock; `waitingSince` tells since when the first is there. Returns how to say that it no longer does. */
  blocked(waitingSince: () => Moment | undefined): () => void
  /** The queue is empty and nothing is under way. */
  empty(): void
}

/** While no message can arrive, the first waiter looks this often. */
const RECHECK_WITHOUT_SUBSCRIPTION = 1_000
const RETRY_AFTER_PASSING_ERROR = 200

/** `remaining`: ms until the lock may be free without a message; -1: it has no expiry. */
type Outcome =
  | { readonly kind: 'left' }
  | { readonly kind: 'acquired' | 'blocked'; readonly remaining: number }

/**
 * The queue of one process before one lock: first come, first served, and only the first talks to Redis.
 *
 * Going to sleep is safe when an attempt was made under a confirmed subscription and nothing has happened
 * since: every message, confirmation or break in the meantime counts as a wake-up. A wake-up belongs to the
 * gate rather than to a waiter, so one that finds its waiter gone goes to the next.
 */
export class Gate {
  private readonly queue = new Set<Waiter>()
  private wakeUps = 0
  private endSleep: (() => void) | undefined
  private stopListening: (() => void) | undefined
  private running = false

  constructor(private readonly around: GateSurroundings) {}

  get isEmpty(): boolean {
    return this.queue.size === 0
  }

  /** Queues an acquisition; resolves with the reply that acquired, or undefined when its wait was over. */
  join(request: AcquireRequest): Waiter {
    const waiter = new Waiter(request, this.around.clock, this.leave)
    this.queue.add(waiter)
    if (!this.running) {
      this.running = true
      outsideThreads(() => void this.serve())
    }
    return waiter
  }

  /** Something may have changed: the first waiter looks again. */
  readonly wake = () => {
    this.wakeUps++
    this.endSleep?.()
  }

  /** Rejects everybody. */
  close(error: unknown): void {
    for (const waiter of [...this.queue]) waiter.fail(error)
  }

  private readonly leave = (waiter: Waiter) => {
    this.queue.delete(waiter)
    if (this.queue.size === 0) this.endSleep?.()
  }

  private async serve() {
    let waiter = this.first()
    // A subscription left over from the last queue spares the second look.
    if (this.around.isConfirmed()) this.startListening()
    while (waiter) {
      const seen = this.wakeUps
      const outcome = await this.attempt(waiter)
      waiter = this.first()
      if (!waiter || outcome.kind === 'left') continue
      if (outcome.kind === 'acquired' && this.around.shared) continue
      if (!this.stopListening) {
        this.startListening()
        // Confirmed already, but a message may have passed before we listened.
        if (this.around.isConfirmed()) continue
      }
      // Having acquired it, this process need not ask whether it is held.
      if (this.wakeUps === seen) await this.sleep(outcome.remaining)
      waiter = this.first()
    }
    this.stopListening?.()
    this.stopListening = undefined
    this.running = false
    this.around.empty()
  }

  private startListening() {
    this.stopListening = this.around.listen(this.wake)
  }

  private first(): Waiter | undefined {
    return this.queue.values().next().value
  }

  /** One try for one waiter; resolves early when the waiter leaves. */
  private attempt(waiter: Waiter): Promise<Outcome> {
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        waiter.onLeft = undefined
        resolve(outcome)
      }
      waiter.onLeft = () => end({ kind: 'left' })
      waiter.startAttempt().answer.then(
        (reply) => {
          if (!waiter.settled) end(this.attemptAnswered(waiter, reply))
        },
        (error) => {
          if (!waiter.settled) end(this.attemptFailed(waiter, error))
        },
      )
    })
  }

  private attemptAnswered(waiter: Waiter, reply: Reply): Outcome {
    waiter.endAttempt(reply.connectionBroke)
    waiter.onLeft = undefined
    if (reply.value === null && !reply.acknowledged) return this.tryAgainOrFail(waiter)
    if (reply.value === null) {
      waiter.succeed(reply)
      return { kind: 'acquired', remaining: waiter.request.lease }
    }
    waiter.unacknowledged = 0
    if (waiter.lastTry) waiter.giveUp()
    return { kind: 'blocked', remaining: reply.value as number }
  }

  // Asking again is idempotent, and writes again, so that the next WAIT has something to wait for.
  private tryAgainOrFail(waiter: Waiter): Outcome {
    waiter.endAttempt(true)
    const tries = ++waiter.unacknowledged
    if (tries < TRIES_FOR_ACKNOWLEDGEMENT && !waiter.lastTry) return { kind: 'blocked', remaining: 0 }
    waiter.fail(notReplicated(waiter.request.lockName, tries))
    return { kind: 'left' }
  }

  private attemptFailed(waiter: Waiter, error: unknown): Outcome {
    waiter.onLeft = undefined
    if (!(error instanceof RedisUnavailableError)) {
      // Refused after it was applied, perhaps: by a WAIT behind it, for instance.
      waiter.endAttempt(!(error instanceof WrongTypeError))
      waiter.fail(error)
      return { kind: 'left' }
    }
    const passing = error.cause !== undefined && classify(error.cause) === 'passing'
    if (passing && !waiter.lastTry) {
      waiter.endAttempt(true)
      return { kind: 'blocked', remaining: RETRY_AFTER_PASSING_ERROR }
    }
    waiter.fail(error)
    if (!passing) this.failThoseWhoWaitedAsLong(error)
    return { kind: 'left' }
  }

  // The rest of the queue met the same silence; none of them need wait through it once more.
  private failThoseWhoWaitedAsLong(error: unknown) {
    const { clock, unavailableAfter } = this.around
    for (const waiter of [...this.queue]) {
      if (clock.elapsedSince(waiter.joined) < unavailableAfter) return
      waiter.fail(error)
    }
  }

  private async sleep(remaining: number) {
    const { clock, longestSleep } = this.around
    let longest = remaining < 0 ? longestSleep : Math.max(remaining, 1)
    if (!this.around.isConfirmed()) longest = Math.min(longest, RECHECK_WITHOUT_SUBSCRIPTION)
    const unblocked = this.around.blocked(() => this.first()?.joined)
    await new Promise<void>((resolve) => {
      const timer = clock.after(longest, resolve)
      this.endSleep = () => {
        timer.cancel()
        resolve()
      }
    })
    this.endSleep = undefined
    unblocked()
  }
}
