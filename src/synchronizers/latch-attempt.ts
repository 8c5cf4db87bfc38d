import { script } from '../scripts/script'
import type { Reply, ScriptCall } from '../scripts/script-call'
import type { Clock } from '../util/clock'
import { queueMicrotask } from '../util/timers'
import { Shared, type TryReply } from '../waiting/admission'
import { type Attempt, GRANTED, type Outcome, type Wanted } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import { untilRecheck } from './synchronizer'

/** The count, the moment of the last opening, and how many µs ago that was. See lua/count-down-latch/get-count.lua. */
export type LatchState = readonly [count: number, opened: string, ago: number]

/** When the latch was last open: another id for each opening, empty where none is known, and how long ago in ms. */
interface Opening {
  readonly id: string
  readonly ago: number
}

export type LatchAnswer = Outcome<undefined> & { readonly opening?: Opening }

function decodeCheck(raw: unknown): LatchAnswer {
  const [count, id, ago] = raw as LatchState
  return count > 0
    ? { granted: false, blockedFor: untilRecheck(), opening: { id, ago: ago / 1000 } }
    : GRANTED
}

/** Looks whether a latch is open. */
export const CHECK = script('count-down-latch/get-count', decodeCheck)

/** In place of the id of an opening: the latch is open, and a caller that waits goes on. */
export const OPEN_NOW = 'open'
/** The soonest look for an opening, in ms. */
const SOONEST_LOOK = 20
/** How much faster or slower the clock of the server may run than that of this process, as a fraction. */
const DRIFT = 0.001
/** The message that the count is zero. */
const OPENED = '0'

/** One caller that waits until the latch is open. */
export class LatchAttempt implements Attempt<undefined> {
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
    private readonly clock: Clock,
    private readonly look: (attempt: LatchAttempt) => ScriptCall<LatchAnswer>,
    readonly wanted: Wanted,
  ) {}

  send(): ScriptCall<LatchAnswer> {
    queueMicrotask(() => {
      this.asked = this.clock.now().monotonic
    })
    return this.look(this)
  }
}

/**
 * A latch opens for every waiter at once, and may be set anew before all of them see it. A message says so, or the answer to a
 * later try.
 */
export class OpenToAll extends Shared {
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
