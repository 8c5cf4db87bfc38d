import type { Orphan } from '../leases/orphan-releaser'
import type { ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import type { Outcome } from '../waiting/attempt'
import { AcquireAttempt } from './base-lock-kind'
import type { FairKind } from './fair-kind'
import { FairPlaces } from './fair-places'

/**
 * How long the client retries to leave the queue while the server is out of reach, in ms. Then the place has
 * usually lapsed.
 */
const LEAVING_LASTS = 60_000

/** One owner's attempt at a fair lock. It has its own place in the queue, and its own channel. */
export class FairAttempt extends AcquireAttempt<FairKind> {
  override readonly target = this.kind.queueOf(this.owner)
  private readonly queues = this.waitTime > 0
  private places: FairPlaces | undefined
  /** When the last try was sent whose answer said that the owner is in the queue. */
  placedAt: Moment | undefined
  /** The queue on the server may have a place of it. */
  private mayHavePlace = false

  override send(): ScriptCall<Outcome<undefined>> {
    const { kind, owner, lease } = this
    if (!this.queues) return kind.enter(owner, lease, false)
    this.places ??= FairPlaces.of(kind.client, kind) ?? new FairPlaces(kind.client, kind)
    const { places } = this
    places.add(this)
    const hadPlace = this.mayHavePlace
    this.mayHavePlace = true
    const call = kind.enter(owner, lease, true)
    call.whenAnswered(
      ({ value: { granted, isPlaced = false, lives = -1 }, sent, hasLostCopy }) => {
        if (granted) return
        this.mayHavePlace = isPlaced || hadPlace || hasLostCopy
        this.placedAt = isPlaced ? sent : undefined
        places.learn(lives)
      },
      () => {
        this.mayHavePlace = hadPlace || call.mayHaveBeenApplied
      },
    )
    return call
  }

  /** Tries again: its place may be gone, or it may head the queue of a free lock. */
  lookAgain(): void {
    this.kind.client.queues.of(this.target)?.wake()
  }

  override undo(inFlight: ScriptCall<Outcome<undefined>> | undefined): void {
    super.undo(inFlight)
    // A try in flight may enter the queue after the waiter has left it.
    if (inFlight && this.queues) this.kind.client.orphans.afterTry(this.place, inFlight, () => true)
  }

  /** The waiter is no longer in its local queue, so it also leaves the queue on the server. */
  ended(granted: boolean): void {
    const { client } = this.kind
    this.places?.remove(this)
    // The end of a lease publishes no message. So the other waiters of this client refresh then, and not a
    // third of an allowance later.
    if (granted) this.places?.refreshWithin(this.lease + 1)
    else if (this.mayHavePlace) client.orphans.releaseNow(this.place, client.clock.now())
  }

  /** Its place in the queue, for a waiter that leaves. */
  private get place(): Orphan {
    const { kind, owner } = this
    return { lease: LEAVING_LASTS, release: async () => void (await kind.leave(owner).answer) }
  }
}
