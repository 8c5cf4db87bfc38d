import type { Client } from '../client/client'
import { ownerField, ownersOfClient } from '../ownership/owner-field'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import type { Moment } from '../util/clock'
import { perObject } from '../util/per-object'
import { RearmableTimer } from '../util/rearmable-timer'

/**
 * The answer to a refresh: see lua/fair-lock/refresh.lua. `head`: the owner that heads the queue of a free
 * lock. `found`: the thread ids of the places found.
 */
function decodeRefresh(raw: unknown) {
  const [next, waitsAhead, lives, head, found] = raw as [number, number, number, string, string]
  return { next, waitsAhead, lives, head, found: found.split(' ').slice(0, -1) }
}

export const REFRESH = script('fair-lock/refresh', decodeRefresh)

/** The queue of a fair lock on the server, as its places need it. */
export interface FairQueue {
  readonly client: Client
  readonly key: string
  /** How long a place lasts after its last refresh, in ms. */
  readonly allowance: number
  refresh(from: number, waitsAhead: number): ScriptCall<ReturnType<typeof decodeRefresh>>
  leave(owner: string): ScriptCall<number>
}

/**
 * What a waiter knows of its place in the queue on the server:
 *
 * - `none`: it surely has none
 * - `possible`: a try may have entered the queue, or may still enter it
 * - known: it has one, by the answer to the try that was sent at this moment
 */
export type Place = 'none' | 'possible' | Moment

/** A waiter that has a place in the queue on the server, or will have one. */
interface Placed {
  readonly owner: string
  readonly place: Place
  /** The server no longer has its place: enters the queue again. */
  lost(): void
  /** Tries again: its place may be gone, or it may head the queue of a free lock. */
  lookAgain(): void
}

const REFRESHES_AN_ALLOWANCE = 3

/** The places of each client, by the keys of their locks. */
const placesOf = perObject((_: Client) => new Map<string, FairPlaces>())

/**
 * The places of one client in the queue of one fair lock. One call refreshes them all, at every third of
 * their allowance. It is the only command that sleeping waiters send. Its answer says which places are gone.
 * It also names the owner that heads the queue of a free lock, in case no message said so: a lease ended, a
 * waiter died, or a message was lost.
 */
export class FairPlaces {
  /** In order of arrival. */
  private readonly waiters = new Map<string, Placed>()
  private readonly timer: RearmableTimer
  /** When the next refresh is due, by the monotonic clock. */
  private due = Number.POSITIVE_INFINITY
  private isRefreshing = false

  private constructor(private readonly queue: FairQueue) {
    const { client, key } = queue
    this.timer = new RearmableTimer(client.clock, () => void outsideRequests(() => this.refresh()))
    placesOf(client).set(key, this)
  }

  /**
   * Those of this client in the queue of this lock, if it has any. The object lasts until its last `remove`.
   */
  static of({ client, key }: FairQueue): FairPlaces | undefined {
    return placesOf(client).get(key)
  }

  /** Those that this waiter stays among until it is removed. */
  static join(queue: FairQueue, waiter: Placed): FairPlaces {
    const places = FairPlaces.of(queue) ?? new FairPlaces(queue)
    places.waiters.set(waiter.owner, waiter)
    return places
  }

  remove(waiter: Placed): void {
    if (!this.waiters.delete(waiter.owner) || this.waiters.size > 0) return
    this.timer.cancel()
    this.due = Number.POSITIVE_INFINITY
    placesOf(this.queue.client).delete(this.queue.key)
  }

  /** A try was answered. */
  learn(lives: number): void {
    const { allowance } = this.queue
    const third = allowance / REFRESHES_AN_ALLOWANCE
    this.refreshWithin(lives < 0 ? third : Math.min(third, lives + 1))
  }

  /** Refreshes in this many ms at the latest. */
  refreshWithin(ms: number): void {
    const due = this.now() + ms
    if (this.waiters.size === 0 || due >= this.due) return
    this.due = due
    if (!this.isRefreshing) this.timer.set(ms)
  }

  private async refresh(): Promise<void> {
    this.due = Number.POSITIVE_INFINITY
    this.isRefreshing = true
    const began = this.now()
    try {
      const found = new Set<string>()
      for (let from = 0, waitsAhead = 0; ; ) {
        const { value } = await this.queue.refresh(from, waitsAhead).answer
        for (const id of value.found) found.add(id)
        ;({ next: from, waitsAhead } = value)
        this.learn(value.lives)
        if (from > 0 && this.waiters.size > 0) continue
        this.waiters.get(value.head)?.lookAgain()
        break
      }
      // Without waiters this object has ended, and another one may have waiters of this client in the queue
      // by now.
      if (this.waiters.size === 0) return
      this.lookForLost(found, began)
      this.removeLeft(found)
    } catch {
      // The tries of the waiters meet the same error and report it.
      for (const waiter of this.waiters.values()) waiter.lookAgain()
    } finally {
      this.isRefreshing = false
      this.refreshWithin(this.queue.allowance / REFRESHES_AN_ALLOWANCE)
      if (this.waiters.size > 0) this.timer.set(Math.max(0, this.due - this.now()))
    }
  }

  /** Lets waiters whose place is gone enter the queue again, in their order of arrival. */
  private lookForLost(found: ReadonlySet<string>, began: number) {
    const idAt = ownersOfClient(this.queue.client.clientId).length
    for (const waiter of this.waiters.values()) {
      const { owner, place } = waiter
      if (typeof place === 'string' || place.monotonic >= began || found.has(owner.slice(idAt))) continue
      waiter.lost()
    }
  }

  /**
   * A late copy of a try may have entered an owner that has left: its place must not be refreshed for ever.
   */
  private removeLeft(found: ReadonlySet<string>) {
    for (const id of found) {
      const owner = ownerField(this.queue.client.clientId, id)
      if (!this.waiters.has(owner)) this.queue.leave(owner).answer.catch(() => {})
    }
  }

  private now(): number {
    return this.queue.client.clock.now().monotonic
  }
}
