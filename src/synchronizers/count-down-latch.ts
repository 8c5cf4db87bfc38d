import calculateSlot from 'cluster-key-slot'
import { describe, waitArguments } from '../api/arguments'
import type { WaitOptions } from '../api/call-options'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { requestsKey } from '../redis/names'
import { script } from '../scripts/script'
import type { Reply, ScriptCall } from '../scripts/script-call'
import type { Clock } from '../util/clock'
import { quote } from '../util/quote'
import { queueMicrotask } from '../util/timers'
import { queueBeside, Shared, type TryReply } from '../waiting/admission'
import { type Attempt, GRANTED, type Outcome, type Wanted } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import { Synchronizer, untilRecheck } from './synchronizer'
import { CHANGE, CHANGED, ENTER, MESSAGES, READ } from './synchronizer-internals'

/**
 * Redisson's RCountDownLatch: callers wait until a count is zero, in any process, in Java too.
 *
 * A latch has no owner and no lease. If a process dies before its `countDown()`, the waiters wait for ever: give `await` a
 * wait or a signal. A latch that was never set, or was deleted, is open. Each call takes effect exactly once, also when its
 * connection breaks. For that the server keeps a record of the open requests beside the latch, for a minute.
 *
 * **Different from Java.** `delete()` wakes all waiters, also those of Java (Java's own `delete()` does not). `await` takes a
 * signal. A count below 1 is a RangeError (in Java nothing could count such a latch down).
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError, WrongTypeError if the key holds no
 * count, TypeError and RangeError for bad arguments.
 */
export interface RCountDownLatch {
  /** The name given to `getCountDownLatch`. */
  getName(): string
  /** Sets the count, 1 or more, if the latch has none; resolves with whether it did. */
  trySetCount(count: number): Promise<boolean>
  /** The count; 0 if the latch is open. Asks the primary. */
  getCount(): Promise<number>
  /**
   * Counts down by one; at zero every waiter goes on. Does nothing if the latch is open. If it rejects with
   * RedisUnavailableError, the client goes on to retry it in the background: do not repeat it.
   */
  countDown(): Promise<void>
  /** Waits until the count is zero. */
  await(): Promise<void>
  /**
   * Waits for at most `waitTime`, in ms unless a unit follows; resolves with whether the count has reached zero.
   * @example
   * ```ts
   * const latch = redisson.getCountDownLatch('imports')
   * await latch.trySetCount(2) // → true
   * await latch.await(10) // → false
   * ```
   */
  await(waitTime: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. Rejects with the signal's reason when it aborts. */
  await(options: WaitOptions): Promise<boolean>
  /** Deletes the latch and wakes its waiters; resolves with whether the latch existed. */
  delete(): Promise<boolean>
}

/** How the name of its channel begins. It is the only kind of channel to which Redisson adds no colon. */
export const LATCH_CHANNEL = 'redisson_countdownlatch__channel__'

/** The channel on which a latch publishes. Redisson always adds braces to this name. */
export function latchChannel(key: string): string {
  return `${LATCH_CHANNEL}{${key}}`
}

const COUNT_DOWN = script('count-down-latch/count-down', Number)
const TRY_SET_COUNT = script('count-down-latch/try-set-count', Number)
const DELETE = script('count-down-latch/delete', Number)
const GET_COUNT = script('count-down-latch/get-count', (raw) => (raw as LatchState)[0])
const CHECK = script('count-down-latch/get-count', decodeCheck)

/** The count, the moment of the last opening, and how many µs ago that was. See lua/count-down-latch/get-count.lua. */
type LatchState = readonly [count: number, opened: string, ago: number]

/** When the latch was last open: another id for each opening, empty where none is known, and how long ago in ms. */
interface Opening {
  readonly id: string
  readonly ago: number
}

type LatchAnswer = Outcome<undefined> & { readonly opening?: Opening }

function decodeCheck(raw: unknown): LatchAnswer {
  const [count, id, ago] = raw as LatchState
  return count > 0
    ? { granted: false, blockedFor: untilRecheck(), opening: { id, ago: ago / 1000 } }
    : GRANTED
}

const LEARN_OPENING = Symbol('learnOpening')
const LOOKS = Symbol('looks')
const KIND = { kind: 'latch', what: 'latch', interfaceName: 'RCountDownLatch' } as const

/** In place of the id of an opening: the latch is open, and a caller that waits goes on. */
const OPEN_NOW = 'open'
/** The soonest look for an opening, in ms. */
const SOONEST_LOOK = 20
/** How much faster or slower the clock of the server may run than that of this process, as a fraction. */
const DRIFT = 0.001
/** The message that the count is zero. */
const OPENED = '0'

/** One caller that waits until the latch is open. */
class LatchAttempt implements Attempt<undefined> {
  /** The end of the tick in which it last tried: the callers of that tick know no more than the answer will say. */
  asked = 0
  /**
   * Every message that was published before the caller came has arrived. Such a message must not grant it, and may arrive late.
   * Later messages may grant it.
   */
  isCaughtUp = false
  /** The last opening by an answer that was asked for after the caller came. Another one later means: opened since. */
  known: string | undefined

  constructor(
    private readonly latch: CountDownLatch,
    readonly wanted: Wanted,
  ) {}

  send(): ScriptCall<LatchAnswer> {
    const { context, keys } = this.latch
    queueMicrotask(() => {
      this.asked = context.clock.now().monotonic
    })
    const look = context.scripts.run(CHECK, keys, [])
    this.latch[LOOKS](look, this)
    return look
  }
}

/**
 * A latch opens for every waiter at once, and may be set anew before all of them see it. A message says so, or the answer to a
 * later try.
 */
class OpenToAll extends Shared {
  private lastId: string | undefined
  /** No answer puts the last opening after this moment. */
  private latest = 0

  constructor(
    private readonly clock: Clock,
    /** Calls back once every message that was published before now has arrived or is lost; absent where messages may be late. */
    private readonly whenCaughtUp: ((callback: () => void) => void) | undefined,
  ) {
    super()
  }

  override next(reply: TryReply, attempt: Attempt<unknown>, waiters: Iterable<AnyWaiter>): number {
    const { value, sent } = reply
    if (value.granted) {
      // The latch was open after each of these had begun to wait.
      for (const waiter of [...waiters])
        if (waiter.joined.monotonic <= sent.monotonic) waiter.grant(undefined)
      return 0
    }
    // In a microtask, because the queue may begin to listen in this tick.
    queueMicrotask(() => this.catchUp(waiters))
    const { asked } = attempt as LatchAttempt
    const nextLook = this.grantByOpening(waiters, reply as Reply<LatchAnswer>, asked)
    return Math.min(value.blockedFor, nextLook)
  }

  /** The message grants every waiter that waited when it was published, even if the latch has been set anew since. */
  override heard(message: string | undefined, waiters: Iterable<AnyWaiter>): void {
    if (message !== OPENED) return
    for (const waiter of [...waiters])
      if ((waiter.attempt as LatchAttempt).isCaughtUp) waiter.grant(undefined)
  }

  private catchUp(waiters: Iterable<AnyWaiter>) {
    const attempts = Array.from(waiters, ({ attempt }) => attempt as LatchAttempt)
    if (attempts.every(({ isCaughtUp }) => isCaughtUp)) return
    this.whenCaughtUp?.(() => {
      for (const attempt of attempts) attempt.isCaughtUp = true
    })
  }

  /**
   * The latch is closed. Grants the waiters that waited when it was last open: an earlier answer or the time says which they
   * are. It replaces the message that a waiter could not hear. Returns after how many ms the next look is due. It is early where
   * the time of this answer cannot say it of a waiter.
   */
  private grantByOpening(waiters: Iterable<AnyWaiter>, { value, sent }: Reply<LatchAnswer>, asked: number) {
    const { id, ago } = value.opening!
    const { clock, lastId } = this
    // The server's clock may be set back, or the clock of its successor is behind. Then the time says nothing (`ago` below 0), or a
    // later moment than an earlier answer. That answer has told which waiters came after the opening.
    const latest = ago < 0 ? Number.NEGATIVE_INFINITY : clock.now().monotonic - ago * (1 - DRIFT)
    const earliest = sent.monotonic - ago * (1 + DRIFT)
    this.latest = lastId === id ? Math.min(this.latest, latest) : latest
    this.lastId = id
    let next = Number.POSITIVE_INFINITY
    for (const waiter of [...waiters]) {
      const { monotonic } = waiter.joined
      const attempt = waiter.attempt as LatchAttempt
      const { known } = attempt
      if (monotonic <= asked) attempt.known ??= id
      const isSince = known !== undefined && known !== id
      if (known === OPEN_NOW) waiter.grant(undefined)
      else if (id === '') continue
      else if (isSince || monotonic < Math.min(earliest, this.latest)) waiter.grant(undefined)
      else if (monotonic < this.latest) next = Math.max(SOONEST_LOOK, ago)
    }
    return next
  }
}

/** See the interface. */
export class CountDownLatch extends Synchronizer implements RCountDownLatch {
  private readonly isOrdered: boolean
  /** The callers to which the look of this tick says what was the last opening; undefined: no look was sent. */
  private looking: Set<LatchAttempt> | undefined

  constructor(context: Context, name: string, key: string) {
    const channel = latchChannel(key)
    if (context.connections.isCluster && calculateSlot(channel) !== calculateSlot(key))
      throw new TypeError(
        `the name ${quote(name)} cannot be used for a latch in a cluster: Redisson puts braces around it in the name of ` +
          'the channel, which then falls into another slot (Java fails there with CROSSSLOT). Use a name without braces',
      )
    // Between the nodes of a cluster an unsharded message may be late by any time. So it only wakes the waiters, and does
    // not grant their wait.
    const isOrdered = !context.connections.isCluster || context.publishCommand === 'spublish'
    super(context, name, KIND, [key, `${requestsKey(key)}:opened`], {
      channel,
      takesTurns: false,
      admission: () => new OpenToAll(context.clock, isOrdered ? this.whenCaughtUp : undefined),
    })
    this.isOrdered = isOrdered
  }

  private readonly whenCaughtUp = (callback: () => void) =>
    this.context.queues.whenCaughtUp(this.target, callback)

  async trySetCount(count: number): Promise<boolean> {
    if (typeof count !== 'number') throw new TypeError(`count must be a number, got ${describe(count)}`)
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError(`count must be a whole number, 1 or more; got ${count}`)
    return await this[CHANGE](TRY_SET_COUNT, [count], false)
  }

  async getCount(): Promise<number> {
    return await this[READ](GET_COUNT)
  }

  async countDown(): Promise<void> {
    this.context.assertOpen()
    const called = this.context.clock.now()
    const { value } = await this.requests.run(COUNT_DOWN, this[MESSAGES], false, 'unavailable')
    this[CHANGED](value)
    if (value === 0) return
    // It opened the latch, so the callers of this client that came before the call have waited for this opening.
    for (const waiter of [...(this.context.queues.of(this.target)?.waiters ?? [])])
      if (waiter.joined.monotonic <= called.monotonic) waiter.grant(undefined)
  }

  // biome-ignore lint/suspicious/noExplicitAny: void without arguments, a boolean with them, as the interface says.
  async await(first?: number | WaitOptions, unit?: TimeUnit): Promise<any> {
    const { waitTime, signal } = waitArguments(first, unit)
    const attempt = new LatchAttempt(this, { waitTime, signal })
    // A single check waits for no other caller, and no earlier answer replaces it.
    const isSingle = waitTime !== undefined && waitTime <= 0
    const target = isSingle ? queueBeside(this.target, 'single checks') : this.target
    const acquired = this[ENTER](attempt, target)
    if (!isSingle && !signal?.aborted && !this.context.closing.aborted) this[LEARN_OPENING](attempt)
    if (this.isOrdered)
      this.whenCaughtUp(() => {
        attempt.isCaughtUp = true
      })
    const reply = await acquired
    return first === undefined ? undefined : reply !== undefined
  }

  // A caller behind others sends no try of its own. Otherwise no answer would tell that it came before the next opening.
  private [LEARN_OPENING](attempt: LatchAttempt) {
    if (this.looking) return void this.looking.add(attempt)
    const look = this.context.scripts.run(CHECK, this.keys, [])
    this[LOOKS](look, attempt)
    look.whenAnswered(({ value }) => value.granted && this.context.queues.mayBeFree(this.target))
  }

  /** A look was sent. Its answer tells all callers of this tick. Without an answer, the later ones tell by the time. */
  [LOOKS](look: ScriptCall<LatchAnswer>, attempt: LatchAttempt): void {
    const looking = new Set([attempt])
    this.looking = looking
    queueMicrotask(() => {
      this.looking = undefined
    })
    look.whenAnswered(({ value }) => {
      for (const each of looking) each.known ??= value.granted ? OPEN_NOW : value.opening!.id
    })
  }

  async delete(): Promise<boolean> {
    return await this[CHANGE](DELETE, [], false)
  }
}
