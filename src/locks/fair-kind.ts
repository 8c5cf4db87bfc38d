import type { ReleaseReply } from '../engine/release-reply'
import { ownersOfClient } from '../ownership/owner-field'
import { prefixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { Admission, queueBeside, type WaitTarget } from '../waiting/admission'
import { GRANTED, type Outcome } from '../waiting/attempt'
import { decodeRelease } from './base-lock-kind'
import { HashLockKind } from './hash-lock-kind'

/** How long a place lasts after its last refresh, in ms. The client refreshes it at every third of that. */
const ALLOWANCE = 5_000

/** The longest sleep of a waiter, in ms. It is long, because the refresh of its place also wakes it. */
const RECHECK_AFTER = 600_000

/**
 * The answer to a try. If it did not acquire: whether the owner has a place in the queue, and how long the
 * lock, or the place at the head, lasts without any command, in ms; -1 without expiry.
 */
export type FairAnswer = Outcome<undefined> & { readonly isPlaced?: boolean; readonly lives?: number }

function decodeAcquire(raw: unknown): FairAnswer {
  if (raw === null) return GRANTED
  const [place, lives] = raw as [number, number]
  return { granted: false, blockedFor: RECHECK_AFTER, isPlaced: place === 1, lives }
}

/**
 * The answer to a refresh: see lua/fair-lock/refresh.lua. `head`: the owner that heads the queue of a free
 * lock. `found`: the thread ids of the places found.
 */
function decodeRefresh(raw: unknown) {
  const [next, waitsAhead, lives, head, found] = raw as [number, number, number, string, string]
  return { next, waitsAhead, lives, head, found: found.split(' ').slice(0, -1) }
}

const ACQUIRE = script('fair-lock/acquire', decodeAcquire)
const RELEASE = script('fair-lock/release', decodeRelease)
const FORCE_RELEASE = script('fair-lock/force-release', decodeRelease)
const LEAVE = script('fair-lock/leave', Number)
const REFRESH = script('fair-lock/refresh', decodeRefresh)

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
export class FairKind extends HashLockKind {
  override readonly kind: string = 'fair'
  override readonly takesTurns = false
  override readonly admission = () => IN_ORDER_OF_SERVER
  readonly allowance = ALLOWANCE
  private readonly queueKeys: readonly string[] = [
    this.key,
    prefixed('redisson_lock_queue', this.key),
    prefixed('redisson_lock_timeout', this.key),
  ]
  private readonly ownChannels = `${this.channel}:`

  /** Each waiter has a queue of its own in this client, and is notified on a channel of its own. */
  queueOf(owner: string): WaitTarget {
    return queueBeside(this, `waiter ${owner}`, { channel: this.ownChannels + owner })
  }

  /** One try that does not queue. */
  override acquire(owner: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.enter(owner, lease, false)
  }

  /** One try. With `queues` it enters the queue if it does not acquire. */
  enter(owner: string, lease: number, queues: boolean): ScriptCall<FairAnswer> {
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

  /** The server notifies the next owner in the queue. */
  protected free(script: typeof RELEASE, owner: string): ScriptCall<ReleaseReply> {
    const { allowance, channel, client, ownChannels } = this
    const args = [owner, allowance, ownChannels, channel, client.publishCommand]
    return client.scripts.run(script, this.queueKeys, args)
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
