import { RedisUnavailableError, WrongTypeError } from '../api/errors'
import { classify } from '../connection/failures'
import { outsideThreads } from '../ownership/logical-thread'
import { Alarm } from '../runtime/alarm'
import type { Clock } from '../runtime/clock'
import { Queue } from '../runtime/queue'
import type { Reply, ScriptCall } from '../scripts/script-runner'
import { notReplicated, TRIES_FOR_ACKNOWLEDGEMENT } from './not-replicated'
import { LONGEST_STAY_BACK, type Turn } from './turn'
import { type AcquireRequest, Waiter } from './waiter'

/** The lock, as far as waiting for it goes. */
export interface WaitingFor {
  readonly lockId: string
  /** The locks whose holds keep the waiters of this one out. */
  readonly lockIds: readonly string[]
  readonly channel: string
  /** When all readers may enter as soon as one may. */
  readonly shared: boolean
}

/** What a gate needs to know of its surroundings. */
export interface GateSurroundings {
  readonly clock: Clock
  /** Starts listening for messages; each calls `wake`. Returns how to stop. */
  listen(lock: WaitingFor, wake: () => void): () => void
  /** Whether messages surely arrive. */
  isConfirmed(lock: WaitingFor): boolean
  /** How this process takes turns with others; none before somebody waited. */
  turn(lock: WaitingFor): Turn | undefined
  /** How long to sleep before a lock without expiry. */
  readonly longestSleep: number
  readonly unavailableAfter: number
  /** Looks from now on whether callers wait for themselves; returns how to stop. */
  watch(gate: Gate): () => void
  /** For how long, in ms, a hold of this client surely keeps the lock, or it is told. */
  surelyHeldFor(lock: WaitingFor): number
  /** The queue is empty and nothing is under way. */
  empty(gate: Gate): void
}

/**
 * A waiter that finds the lock held by its own client need not ask; but what nobody tells, a DEL for instance, is found out
 * by asking alone, so it does after this long.
 */
const LONGEST_WITHOUT_ASKING = 100
/** While no message can arrive, the first waiter looks this often. */
const RECHECK_WITHOUT_SUBSCRIPTION = 1_000
const RETRY_AFTER_PASSING_ERROR = 200

/** `remaining`: ms until the lock may be free without a message; -1: it has no expiry. */
type Outcome =
  | { readonly kind: 'left' }
  | { readonly kind: 'acquired' | 'blocked'; readonly remaining: number }

const LEFT: Outcome = { kind: 'left' }

/**
 * The queue of one process before one lock: first come, first served, and only the first talks to Redis.
 *
 * Going to sleep is safe when an attempt was made under a confirmed subscription and nothing has happened
 * since: every message, confirmation or break in the meantime counts as a wake-up. A wake-up belongs to the
 * gate rather than to a waiter, so one that finds its waiter gone goes to the next.
 */
export class Gate {
  private readonly queue = new Queue<Waiter>()
  private state: 'idle' | 'asking' | 'sleeping' = 'idle'
  private wakeUps = 0
  /** The wake-ups there had been when the attempt under way began. */
  private seen = 0
  /** The attempt under way asks for a lock that anybody may take, rather than for one that is handed over. */
  private asksOpenly = true
  private alarm: Alarm | undefined
  private whenItRings: () => void = () => {}
  private stopListening: (() => void) | undefined
  private stopWatching: (() => void) | undefined

  constructor(
    readonly lock: WaitingFor,
    private readonly around: GateSurroundings,
  ) {}

  get isEmpty(): boolean {
    return this.queue.first === undefined
  }

  /** Who is asked for next. */
  get first(): Waiter | undefined {
    return this.queue.first
  }

  /** Queues an acquisition; its result is the reply that acquired, or undefined when its wait was over. */
  join(request: AcquireRequest): Waiter {
    const waiter = new Waiter(request, this.around.clock, this.leave)
    this.queue.add(waiter)
    if (this.state === 'idle') outsideThreads(() => this.begin(waiter))
    return waiter
  }

  /** Something may have changed: the first waiter looks again. */
  readonly wake = () => {
    this.wakeUps++
    if (this.state === 'sleeping') outsideThreads(this.askInTurn)
  }

  /** Who stays back for others may do so for no reason any more. */
  reconsider(): void {
    if (this.state === 'sleeping' && this.whenItRings === this.askNow) outsideThreads(this.askInTurn)
  }

  /**
   * The hold of this client that ends hands the lock to the first waiter instead of releasing it; undefined where
   * there is none, or others are to have a chance at it. `leaseLeft`: what the server may still grant the hold, in ms.
   */
  handOver(giver: string, leaseLeft: number): ScriptCall | undefined {
    const waiter = this.queue.first
    if (this.state !== 'sleeping' || !waiter) return undefined
    // Whoever waits elsewhere sleeps for as long as he saw the lock would live: he must be told when that gets shorter.
    if (waiter.request.lease < leaseLeft || !this.turn(waiter)?.handOver()) return undefined
    return outsideThreads(() => this.attempt(waiter, giver))
  }

  /** Rejects everybody. */
  close(error: unknown): void {
    for (const waiter of [...this.queue]) waiter.fail(error)
  }

  private readonly leave = (waiter: Waiter) => {
    this.queue.remove(waiter)
    if (this.isEmpty && this.state === 'sleeping') this.finish()
  }

  private begin(waiter: Waiter) {
    // A subscription left over from the last queue spares the second look, and behind a hold of our own the first.
    if (this.around.isConfirmed(this.lock)) {
      this.startListening()
      const held = waiter.request.canTakeOver && !waiter.lastTry ? this.around.surelyHeldFor(this.lock) : 0
      if (held > 0) return this.sleep(Math.min(held, LONGEST_WITHOUT_ASKING))
    }
    this.askInTurn()
  }

  private finish() {
    this.state = 'idle'
    this.alarm?.cancel()
    this.stopWatching?.()
    this.stopWatching = undefined
    this.stopListening?.()
    this.stopListening = undefined
    this.around.empty(this)
  }

  private startListening() {
    this.stopListening = this.around.listen(this.lock, this.wake)
  }

  /** Lets those go first whose turn it is, and asks. */
  private readonly askInTurn = () => {
    const waiter = this.queue.first
    if (!waiter) return this.finish()
    // Who cannot wait for long asks at once, and says nothing about those who might have come.
    if (waiter.patience <= 2 * LONGEST_STAY_BACK) return this.ask(waiter, false)
    const back = this.turn(waiter)?.stayBack() ?? 0
    if (back > 0) this.sleepFor(back, this.askNow)
    else this.ask(waiter, true)
  }

  private readonly askNow = () => {
    const waiter = this.queue.first
    if (waiter) this.ask(waiter, true)
    else this.finish()
  }

  private ask(waiter: Waiter, inTurn: boolean) {
    this.turn(waiter)?.ask(inTurn)
    this.attempt(waiter, undefined)
  }

  /** Only of locks that are handed over. */
  private turn(waiter: Waiter): Turn | undefined {
    return waiter.request.canTakeOver ? this.around.turn(this.lock) : undefined
  }

  /** One try for one waiter; goes on as soon as it is answered, or the waiter leaves. */
  private attempt(waiter: Waiter, giver: string | undefined): ScriptCall {
    this.alarm?.silence()
    this.state = 'asking'
    this.asksOpenly = giver === undefined
    this.seen = this.wakeUps
    waiter.onLeft = this.left
    const call = waiter.startAttempt(giver)
    call.whenAnswered(
      (reply) => {
        if (!waiter.settled) this.goOn(this.attemptAnswered(waiter, reply))
      },
      (error) => {
        if (!waiter.settled) this.goOn(this.attemptFailed(waiter, error))
      },
    )
    return call
  }

  // Later, because where one leaves all may be on their way out.
  private readonly left = () => outsideThreads(() => queueMicrotask(() => this.goOn(LEFT)))

  private goOn(outcome: Outcome): void {
    if (this.isEmpty) return this.finish()
    if (outcome.kind === 'left' || (outcome.kind === 'acquired' && this.lock.shared)) return this.askInTurn()
    if (!this.stopListening) {
      this.startListening()
      // Confirmed already, but a message may have passed before we listened.
      if (this.around.isConfirmed(this.lock)) return this.askInTurn()
    }
    // Having acquired it, this process need not ask whether it is held.
    if (this.wakeUps === this.seen) this.sleep(outcome.remaining)
    else this.askInTurn()
  }

  private attemptAnswered(waiter: Waiter, reply: Reply): Outcome {
    waiter.endAttempt(reply.connectionBroke)
    waiter.onLeft = undefined
    if (reply.value === null && !reply.acknowledged) return this.tryAgainOrFail(waiter)
    if (reply.value === null) {
      if (this.asksOpenly) this.turn(waiter)?.begin()
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
    return LEFT
  }

  private attemptFailed(waiter: Waiter, error: unknown): Outcome {
    waiter.onLeft = undefined
    if (!(error instanceof RedisUnavailableError)) {
      // Refused after it was applied, perhaps: by a WAIT behind it, for instance.
      waiter.endAttempt(!(error instanceof WrongTypeError))
      waiter.fail(error)
      return LEFT
    }
    const passing = error.cause !== undefined && classify(error.cause) === 'passing'
    if (passing && !waiter.lastTry) {
      waiter.endAttempt(true)
      return { kind: 'blocked', remaining: RETRY_AFTER_PASSING_ERROR }
    }
    waiter.fail(error)
    if (!passing) this.failThoseWhoWaitedAsLong(error)
    return LEFT
  }

  // The rest of the queue met the same silence; none of them need wait through it once more.
  private failThoseWhoWaitedAsLong(error: unknown) {
    const { clock, unavailableAfter } = this.around
    for (const waiter of [...this.queue]) {
      if (clock.elapsedSince(waiter.joined) < unavailableAfter) return
      waiter.fail(error)
    }
  }

  private sleep(remaining: number) {
    const { longestSleep } = this.around
    let longest = remaining < 0 ? longestSleep : Math.max(remaining, 1)
    if (!this.around.isConfirmed(this.lock)) longest = Math.min(longest, RECHECK_WITHOUT_SUBSCRIPTION)
    this.sleepFor(longest, this.askInTurn)
    this.stopWatching ??= this.around.watch(this)
  }

  private sleepFor(longest: number, then: () => void) {
    this.state = 'sleeping'
    this.whenItRings = then
    this.alarm ??= new Alarm(this.around.clock, () => this.whenItRings())
    this.alarm.set(longest)
  }
}
