import { script } from '../scripts/script'
import type { Reply, ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import { queueMicrotask } from '../util/timers'
import { Shared, type TryReply } from '../waiting/admission'
import { type Attempt, GRANTED, type Outcome, type Wanted } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import { type Synchronizer, untilRecheck } from './synchronizer'

/** When the latch was last open: another id for each opening, empty where none is known, and how long ago in ms. */
interface Opening {
  readonly id: string
  readonly ago: number
}

export type LatchAnswer = Outcome<undefined> & { readonly opening?: Opening; readonly count?: number }

/** The count, the moment of the last opening, and how many µs ago that was. See lua/count-down-latch/get-count.lua. */
function decodeLook(raw: unknown): LatchAnswer {
  const [text, id, ago] = raw as [count: string, opened: string, ago: number]
  const count = Number(text)
  return count > 0
    ? { granted: false, blockedFor: untilRecheck(), opening: { id, ago: ago / 1000 }, count }
    : GRANTED
}

/** Looks whether a latch is open. */
export const LOOK = script('count-down-latch/get-count', decodeLook)

function lookAt({ context, keys }: Synchronizer): ScriptCall<LatchAnswer> {
  return context.scripts.run(LOOK, keys, [])
}

/** The latch was opened: the callers of this client that came before this moment have waited for it. */
export function openedSince({ context, target }: Synchronizer, called: Moment): void {
  for (const waiter of [...(context.queues.of(target)?.waiters ?? [])])
    if (waiter.joined.monotonic <= called.monotonic) waiter.grant(undefined)
}

/** The soonest look for an opening, in ms. */
const SOONEST_LOOK = 20
/** How much faster or slower the clock of the server may run than that of this process, as a fraction. */
const DRIFT = 0.001

/** One caller that waits until the latch is open. */
export class LatchAttempt implements Attempt<undefined> {
  hasTried = false
  /** Answers that were asked for after the caller came show that the latch has been open since. */
  hasBeenOpen = false
  /** The last opening and the least count by such answers, and the number of the answer with that count. */
  private known: string | undefined
  private leastCount = Number.POSITIVE_INFINITY
  private answeredAs = 0

  constructor(
    private readonly latch: Synchronizer,
    readonly wanted: Wanted,
  ) {}

  send(): ScriptCall<LatchAnswer> {
    this.hasTried = true
    const look = lookAt(this.latch)
    look.whenAnswered((reply) => this.learn(reply))
    return look
  }

  /** Takes an answer that was asked for after the caller came. A count only falls, until it is set anew. */
  learn({ value: { granted, opening, count = 0 }, sentAs, answeredAs }: Reply<LatchAnswer>): void {
    const isAnother = this.known !== undefined && opening?.id !== '' && opening?.id !== this.known
    // Answers of two nodes of a cluster may come in any order.
    const isHigher = count > this.leastCount && sentAs > this.answeredAs
    this.hasBeenOpen ||= granted || isAnother || isHigher
    this.known ??= opening?.id
    if (count >= this.leastCount) return
    this.leastCount = count
    this.answeredAs = answeredAs
  }
}

/**
 * A latch opens for every waiter at once, and may be set anew before all of them see it. The answer to a later try says so. A
 * message only wakes: channels belong to the server, so it may be of a latch with this name in another database.
 */
export class OpenToAll extends Shared {
  /** The callers of this tick that wait behind others. */
  private readonly untold = new Set<LatchAttempt>()
  private lastId: string | undefined
  /** No answer puts the last opening after this moment. */
  private latest = 0

  constructor(private readonly latch: Synchronizer) {
    super()
  }

  override next(reply: TryReply, _: Attempt<unknown>, waiters: Iterable<AnyWaiter>): number {
    const { value, sent } = reply
    if (value.granted) {
      // The latch was open after each of these had begun to wait.
      for (const waiter of [...waiters])
        if (waiter.joined.monotonic <= sent.monotonic) waiter.grant(undefined)
      return 0
    }
    return Math.min(value.blockedFor, this.grantByOpening(waiters, reply as Reply<LatchAnswer>))
  }

  /**
   * A caller behind others sends no try of its own, so no answer would tell that it came before the next opening. One look at the
   * end of the tick tells all callers of the tick. Without its answer, the later ones tell by the time.
   */
  tell(attempt: LatchAttempt): void {
    if (this.untold.add(attempt).size === 1) queueMicrotask(() => this.lookNow())
  }

  /** Does not wait for the end of the tick: a command of this client follows that may close the latch. */
  lookNow(): void {
    const told = [...this.untold]
    if (told.length === 0) return
    this.untold.clear()
    lookAt(this.latch).whenAnswered((reply) => {
      for (const each of told) each.learn(reply)
      if (reply.value.granted) openedSince(this.latch, reply.sent)
    })
  }

  /**
   * The latch is closed. Grants the waiters that waited when it was last open: an earlier answer or the time says which they
   * are. It replaces the message that a waiter could not hear. Returns after how many ms the next look is due. It is early where
   * the time of this answer cannot say it of a waiter.
   */
  private grantByOpening(waiters: Iterable<AnyWaiter>, reply: Reply<LatchAnswer>) {
    const { value, sent } = reply
    const { id, ago } = value.opening!
    const { latch, lastId } = this
    // The server's clock may be set back, or the clock of its successor is behind. Then the time says nothing (`ago` below 0), or a
    // later moment than an earlier answer. That answer has told which waiters came after the opening.
    const latest =
      ago < 0 ? Number.NEGATIVE_INFINITY : latch.context.clock.now().monotonic - ago * (1 - DRIFT)
    const earliest = sent.monotonic - ago * (1 + DRIFT)
    this.latest = lastId === id ? Math.min(this.latest, latest) : latest
    this.lastId = id
    let next = Number.POSITIVE_INFINITY
    for (const waiter of [...waiters]) {
      const { monotonic } = waiter.joined
      const attempt = waiter.attempt as LatchAttempt
      if (monotonic <= sent.monotonic) attempt.learn(reply)
      if (attempt.hasBeenOpen) waiter.grant(undefined)
      else if (id === '') continue
      else if (monotonic < Math.min(earliest, this.latest)) waiter.grant(undefined)
      else if (monotonic < this.latest) next = Math.max(SOONEST_LOOK, ago)
    }
    return next
  }
}
