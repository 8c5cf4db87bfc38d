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
    const closedAt =
      this.lastId !== undefined && this.lastId !== id ? this.lastAsked : Number.NEGATIVE_INFINITY
    this.lastId = id
    this.lastAsked = this.asking
    if (id === '') return Number.POSITIVE_INFINITY
    const { clock } = environment
    const reply = unasked(clock)
    const latest = clock.now().monotonic - ago
    let next = Number.POSITIVE_INFINITY
    for (const waiter of [...waiters]) {
      const { monotonic } = waiter.joined
      if (monotonic <= closedAt || monotonic < sent.monotonic - ago) waiter.succeed(reply)
      else if (monotonic < latest) next = Math.max(SOONEST_LOOK, ago)
    }
    return next
  }
}
