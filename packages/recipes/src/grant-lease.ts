import { IllegalMonitorStateError, LockLostError, RedisRefusedError, RedisUnavailableError } from 'rlock'
import { Lease, LeaseBook, type Leased, type LossReason, type Orphan } from 'rlock/internal'
import type { LeasedObject } from './leased-object'

/** An owner of a part of an object. */
export interface Grantee {
  readonly object: LeasedObject
  readonly owner: string
  readonly threadId: number
  readonly lease: number
  /** What the server may have for this owner. `release`: how it is ended. */
  orphan(lease?: number, release?: () => Promise<unknown>): Orphan
}

/** What one owner was granted. The watchdog renews it until its release. */
export class GrantLease extends Lease {
  readonly leased: Leased
  readonly ownerField: string
  readonly book: LeaseBook
  private isReleased = false

  constructor(
    private readonly grantee: Grantee,
    granted: ConstructorParameters<typeof LeaseBook>[1],
  ) {
    const { object, owner, lease } = grantee
    const { client, kind, target } = object
    const { renewal, shared } = kind
    // An owner of a part excludes no waiter, so there is no self-deadlock to warn of.
    const ids = shared ? { objectId: `part of ${target.key}`, relatedIds: [] } : {}
    super()
    this.leased = { ...target, ...ids, renewal, shared }
    this.ownerField = owner
    this.book = new LeaseBook(client.clock, granted, lease)
  }

  get needsWatchdog(): boolean {
    return true
  }

  get holder(): string {
    return `thread id ${this.grantee.threadId}`
  }

  renewalFailed(error: unknown): void {
    this.grantee.object.client.events.emit('renewalFailed', { ...this.named, error })
  }

  lose(reason: Exclude<LossReason, 'forced'>): void {
    if (this.hasEnded) return
    const { client, target } = this.grantee.object
    client.leases.end(this)
    const error = this.lossError(reason)
    this.end('lost', error, reason)
    // The server notified no client; local waiters may be able to enter now.
    if (reason === 'gone') client.queues.wakeWaiters(target)
    client.events.emit('lockLost', { ...this.named, reason, error })
  }

  /** Ends it by `send`, which answers whether the server still had it. Rejects where it was lost, or was released before. */
  async release(send = () => this.grantee.object.release(this.owner)): Promise<void> {
    const { grantee, book } = this
    const { client, target } = grantee.object
    if (this.isReleased)
      throw new IllegalMonitorStateError(
        `${target.subject} was released already by ${this.holder} (client ${client.clientId}).`,
      )
    client.assertNotClosed()
    this.isReleased = true
    const began = client.clock.now()
    if (!this.checkLive()) {
      // The server may have it all the same: a clock was set forward, or the answer to a renewal was lost.
      if (this.lossReason === 'lease') client.orphans.releaseNow(grantee.orphan(book.longest), began)
      throw this.signal.reason
    }
    // Its renewals must not find it gone.
    this.beginRelease()
    client.leases.end(this)
    try {
      if (await send()) return
      this.lose('gone')
      throw this.signal.reason
    } catch (error) {
      if (error instanceof RedisUnavailableError || error instanceof RedisRefusedError)
        client.orphans.releaseNow(grantee.orphan(book.longest, send), began)
      throw error
    } finally {
      this.end('released')
    }
  }

  private get named() {
    const { name: lockName, kind } = this.leased
    return { lockName, kind, owner: this.owner, threadId: this.grantee.threadId }
  }

  private lossError(reason: LossReason): LockLostError {
    const { object, threadId } = this.grantee
    const why = reason === 'gone' ? 'the server no longer knows it' : 'its lease, less a margin, ran out'
    return new LockLostError(
      `${object.target.subject} was lost: ${why} (client ${object.client.clientId}, thread id ${threadId}). Another client may ` +
        'have it now: stop the work that needs it.',
      object.name,
      threadId,
    )
  }
}
