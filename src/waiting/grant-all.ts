import type { Clock, Moment } from '../util/clock'
import { queueMicrotask } from '../util/timers'
import type { Opening } from './attempt'
import { type AnyWaiter, type GrantedReply, unasked, type WaitersOfLock } from './waiter'

/**
 * A message that was published before a waiter came may still arrive. It must not grant this waiter, so the waiter counts
 * only once every earlier message has arrived.
 */
export function catchUp({ lock, environment }: WaitersOfLock, waiter: AnyWaiter): void {
  if (lock.policy.grantedBy === undefined) return
  environment.whenCaughtUp(lock, () => {
    waiter.isCaughtUp = true
  })
}

/** The message came: grants every waiter that waited when it was published, even if the object has changed since. */
export function grantByMessage({ environment, waiters }: WaitersOfLock): void {
  const reply = unasked(environment.clock)
  for (const waiter of [...waiters]) if (waiter.isCaughtUp) waiter.succeed(reply)
}

/** The answer to a try grants every waiter that waited when the try was sent. */
export function grantByReply({ waiters }: WaitersOfLock, reply: GrantedReply<unknown>): void {
  for (const waiter of [...waiters])
    if (waiter.joined.monotonic <= reply.sent.monotonic) waiter.succeed(reply)
}

/** In ms. */
const SOONEST_LOOK = 20

/** What the answers to one queue said about the last opening. It replaces the message that a waiter could not hear. */
export class Openings {
  private lastId: string | undefined
  private lastAsked = 0
  private asking = 0
  /** No answer puts the last opening after this moment. */
  private latest = 0

  /** A try is sent. The callers of this tick know no more than its answer will say. */
  ask(clock: Clock): void {
    queueMicrotask(() => {
      this.asking = clock.now().monotonic
    })
  }

  /**
   * The object is closed. Grants the waiters that waited when it was last open: an earlier answer or the time says which they
   * are. Returns after how many ms the next look is due. It is early where the time of this answer cannot say it of a waiter.
   */
  grant({ environment, waiters }: WaitersOfLock, sent: Moment, { id, ago }: Opening): number {
    const { clock } = environment
    const { lastId } = this
    const closedAt = lastId !== undefined && lastId !== id ? this.lastAsked : Number.NEGATIVE_INFINITY
    // The server's clock may be set back, or the clock of its successor is behind. Then the time says nothing (`ago` below 0), or a
    // later moment than an earlier answer. That answer has told which waiters came after the opening.
    const latest = ago < 0 ? Number.NEGATIVE_INFINITY : clock.now().monotonic - ago
    this.latest = lastId === id ? Math.min(this.latest, latest) : latest
    this.lastId = id
    this.lastAsked = this.asking
    if (id === '') return Number.POSITIVE_INFINITY
    const reply = unasked(clock)
    let next = Number.POSITIVE_INFINITY
    for (const waiter of [...waiters]) {
      const { monotonic } = waiter.joined
      if (monotonic <= closedAt || monotonic < Math.min(sent.monotonic - ago, this.latest))
        waiter.succeed(reply)
      else if (monotonic < this.latest) next = Math.max(SOONEST_LOOK, ago)
    }
    return next
  }
}
