import type { Caller, Hold } from '../engine/hold'
import type { ReleaseReply } from '../engine/release-reply'
import type { RLock } from '../engine/rlock'
import { ownersOfClient } from '../ownership/owner-field'
import { prefixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import type { AnyScriptCall, ScriptCall } from '../scripts/script-call'
import { Admission, queueBeside, type WaitTarget } from '../waiting/admission'
import { GRANTED, type Outcome } from '../waiting/attempt'
import { AcquireAttempt, decodeRelease } from './base-lock-kind'
import { FairPlaces, type FairQueue, type Place, REFRESH } from './fair-places'
import { HashLockKind } from './hash-lock-kind'
import { reentryRefused } from './non-reentrant-lock'

/**
 * Redisson's fair lock: an RLock whose waiters are served in the order in which they arrived at the server,
 * across all processes, those of Java included.
 *
 * Every waiter has its own place in a queue on the server. A place lasts for five seconds, and its client
 * refreshes it while the waiter waits. So a process that dies delays the waiters behind it by seconds.
 * Sleeping waiters send only this refresh: one call for each client and lock.
 *
 * `tryLock()` without a wait never enters the queue and never passes it: it acquires a lock only if the lock
 * is free and no caller waits for it. There is no local handoff, so each acquisition takes a message and a
 * round trip. If the order does not matter, `getLock` is several times as fast.
 *
 * **Different from Java.** When a waiter leaves, or a place at the head lapses, the next waiter is notified.
 * (In Java it sleeps on.) `unlock()` of a hold that was lost rejects with LockLostError. A caller whose
 * process stops, or is cut off from the server, for longer than five seconds loses its place, and queues
 * again at the end. The place of a dead Java waiter lasts for Redisson's `fairLockWaitTimeout`, five minutes
 * by default.
 *
 * It is the same lock as `getLock` of that name. Callers of `getLock` pass the queue, so use one kind for one
 * name.
 */
export interface RFairLock extends RLock {}

/**
 * How long the client retries to leave the queue while the server is out of reach, in ms. Then the place has
 * usually lapsed.
 */
const LEAVING_LASTS = 60_000

/** The longest sleep of a waiter, in ms. It is long, because the refresh of its place also wakes it. */
const RECHECK_AFTER = 600_000

/**
 * The answer to a try. If it did not acquire: how long the lock, or the place at the head, lasts without any
 * command, in ms; -1 without expiry.
 */
type FairAnswer = Outcome<undefined> & { readonly lives?: number }

function decodeAcquire(raw: unknown): FairAnswer {
  if (raw === null) return GRANTED
  // The first number says whether the owner is in the queue. It is, if its try asked for that.
  const [, lives] = raw as [number, number]
  return { granted: false, blockedFor: RECHECK_AFTER, lives }
}

const ACQUIRE = script('fair-lock/acquire', decodeAcquire)
const RELEASE = script('fair-lock/release', decodeRelease)
const FORCE_RELEASE = script('fair-lock/force-release', decodeRelease)
const LEAVE = script('fair-lock/leave', Number)

/**
 * The queue is on the server. The refresh of the places also wakes the waiters while no message can arrive.
 */
class InOrderOfServer extends Admission {
  override recheckAfter(): number {
    return Number.POSITIVE_INFINITY
  }
}

const IN_ORDER_OF_SERVER = new InOrderOfServer()

/** The scripts of Java's fair lock: in Redis it is the hash of a plain lock, and a queue of owners. */
export class FairLockKind extends HashLockKind implements FairQueue {
  override readonly kind: string = 'fair'
  override readonly takesTurns = false
  override readonly admission = () => IN_ORDER_OF_SERVER
  protected override readonly Attempt = FairAttempt
  /** How long a place lasts after its last refresh, in ms. The client refreshes it at every third of that. */
  readonly allowance = 5_000
  private readonly queueKeys: readonly string[] = [
    this.key,
    prefixed('redisson_lock_queue', this.key),
    prefixed('redisson_lock_timeout', this.key),
  ]
  private readonly ownChannels = `${this.channel}:`

  /** Each waiter has a queue of its own in this client, and is notified on a channel of its own. */
  override queueOf(owner: string): WaitTarget {
    return queueBeside(this, `waiter ${owner}`, { channel: this.ownChannels + owner })
  }

  /** One try. With `queues` it enters the queue if it does not acquire. */
  override acquire(owner: string, lease: number, queues = false): ScriptCall<FairAnswer> {
    const { allowance, client, ownChannels } = this
    const args = [owner, lease, allowance, queues ? 1 : 0, ownChannels, client.publishCommand]
    return client.scripts.run(ACQUIRE, this.queueKeys, args, true)
  }

  override release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply> {
    return count > 0 ? super.release(owner, count, lease, leaseEnd) : this.free(RELEASE, owner)
  }

  override forceRelease([owner = '']: readonly string[]): ScriptCall<ReleaseReply> {
    return this.free(FORCE_RELEASE, owner)
  }

  /** The server notifies the next owner in the queue; if it refuses the message, a refresh finds it. */
  private free(script: typeof RELEASE, owner: string): ScriptCall<ReleaseReply> {
    const { allowance, channel, client, ownChannels } = this
    const args = [owner, allowance, ownChannels, channel, client.publishCommand]
    const call = client.scripts.run(script, this.queueKeys, args)
    call.whenAnswered(({ value }) => {
      if (value.result === 'freed' && value.notified === undefined) FairPlaces.of(this)?.refreshWithin(0)
    })
    return call
  }

  leave(owner: string): ScriptCall<number> {
    const { allowance, client, ownChannels } = this
    return client.scripts.run(LEAVE, this.queueKeys, [owner, allowance, ownChannels, client.publishCommand])
  }

  refresh(from: number, waitsAhead: number) {
    const { allowance, client, ownChannels } = this
    const owners = ownersOfClient(client.clientId)
    const args = [owners, allowance, from, waitsAhead, ownChannels, client.publishCommand]
    return client.scripts.run(REFRESH, this.queueKeys, args)
  }
}

/**
 * One owner's attempt at a fair lock. It has its own channel and, unless it is a single try, its own place in
 * the queue on the server.
 *
 * | Place           | Event                                   | What happens                        | Place after |
 * | --------------- | --------------------------------------- | ----------------------------------- | ----------- |
 * | none            | a try is sent                           | the try may enter the queue         | possible    |
 * | none            | the same, with a wait of 0              | the try never enters the queue      | none        |
 * | possible        | a try from none fails, it had no effect | its waiter retries or rejects       | none        |
 * | any             | another try fails                       | its waiter retries or rejects       | as before   |
 * | any             | a try is answered: blocked              | its client refreshes the place      | known       |
 * | any             | a grant that no replica has             | its waiter tries again or rejects   | as before   |
 * | known           | a refresh does not find the place       | it tries again, and so queues again | possible    |
 * | any             | its wait ends with a grant              | the grant has ended the place       |             |
 * | possible, known | its wait ends without a grant           | it leaves the queue                 |             |
 * | any             | the same, and a try is in flight        | it leaves again after that try      |             |
 */
class FairAttempt extends AcquireAttempt<FairLockKind> {
  place: Place = 'none'
  /** Those of its client, since its first try. A single try never has a place among them. */
  private places: FairPlaces | undefined

  override send(): ScriptCall<Outcome<undefined>> {
    const { kind, owner, lease, place, waitTime } = this
    if (waitTime <= 0) return kind.acquire(owner, lease)
    this.places ??= FairPlaces.join(kind, this)
    if (place === 'none') this.place = 'possible'
    const call = kind.acquire(owner, lease, true)
    call.whenAnswered(
      ({ value: { granted, lives = -1 }, sent }) => {
        if (granted) return
        this.place = sent
        this.places!.learn(lives)
      },
      () => {
        if (place === 'none' && !call.mayHaveBeenApplied) this.place = 'none'
      },
    )
    return call
  }

  lost(): void {
    this.place = 'possible'
    this.lookAgain()
  }

  lookAgain(): void {
    this.kind.client.queues.of(this.target)?.wake()
  }

  /** The waiter is no longer in its local queue, so it also leaves the queue on the server. */
  ended(granted: boolean, inFlight: AnyScriptCall | undefined): void {
    const { kind, lease, owner, place, places } = this
    const { clock, orphans } = kind.client
    if (!places) return
    places.remove(this)
    // The end of a lease publishes no message. So the other waiters of this client refresh then, and not a
    // third of an allowance later.
    if (granted) return places.refreshWithin(lease + 1)
    const leaving = { lease: LEAVING_LASTS, release: async () => void (await kind.leave(owner).answer) }
    if (place !== 'none') orphans.releaseNow(leaving, clock.now())
    // That try may enter the queue after the waiter has left it.
    if (inFlight) orphans.afterTry(leaving, inFlight, () => true)
  }
}

/**
 * Redisson's fair lock that is not re-entrant: a caller that holds it and acquires it again is rejected with
 * IllegalMonitorStateError.
 */
export class NonReentrantFairLockKind extends FairLockKind {
  override readonly kind = 'non-reentrant-fair'

  refuseReentry(hold: Hold, caller: Caller): never {
    throw reentryRefused(this, hold, caller, 'getFairLock()')
  }
}
