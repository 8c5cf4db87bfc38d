import { PermitNotHeldError, RedisRefusedError, RedisUnavailableError } from '../../api/errors'
import { Lease, type LossReason } from '../../leases/lease'
import { LeaseBook } from '../../leases/lease-book'
import { type Leased, renewalBy } from '../../leases/leased'
import type { Moment } from '../../util/clock'
import { perObject } from '../../util/per-object'
import { quote } from '../../util/quote'
import type { Synchronizer } from '../synchronizer'
import { permitsOrphan, releasePermits, timeoutsKey } from './permit-release'

const RENEWAL = renewalBy('permit-expirable-semaphore/renew', ({ leased }) => timeoutsKey(leased.key))

/**
 * The same for all permits of a semaphore. No related ids: one permit does not exclude waiters, so there is
 * no self-deadlock to warn of.
 */
const leasedOf = perObject(({ target }: Synchronizer) => ({
  ...target,
  objectId: `permit of ${target.key}`,
  relatedIds: [],
  shared: true,
  renewal: RENEWAL,
}))

/** The lease of one permit. Calls that name the permit by its id do not reach it. */
export class PermitLease extends Lease {
  readonly leased: Leased
  readonly book: LeaseBook
  /** Its holder called `release()`. */
  isReleased = false

  constructor(
    readonly semaphore: Synchronizer,
    readonly id: string,
    granted: Moment,
    private readonly leaseTime: number | undefined,
    maxHoldTime: number | undefined,
    lease: number,
  ) {
    super()
    this.leased = leasedOf(semaphore)
    this.book = new LeaseBook(semaphore.client.clock, granted, lease, maxHoldTime)
  }

  get ownerField(): string {
    return this.id
  }

  get needsWatchdog(): boolean {
    return this.leaseTime === undefined
  }

  get holder(): string {
    return `permit ${this.id}`
  }

  renewalFailed(error: unknown): void {
    const { leased, owner, id } = this
    const { name: lockName, kind } = leased
    const event = { lockName, kind, owner, threadId: 0, permitId: id, error }
    this.semaphore.client.events.emit('renewalFailed', event)
  }

  /** Also where the answer to its release says so. No command releases a permit by force. */
  lose(reason: Exclude<LossReason, 'forced'>): void {
    if (this.hasEnded) return
    const { client, target } = this.semaphore
    client.leases.end(this)
    const { term, maxHoldTime } = this.book
    const error = this.notHeld(
      {
        lease: `its lease of ${term.lasts} ms ran out`,
        limit: `its maxHoldTime of ${maxHoldTime} ms, less a margin, is over`,
        gone: 'the server no longer knows it',
      }[reason],
    )
    error.reason = reason
    const isExpected = reason === 'lease' && !this.needsWatchdog
    this.end(isExpected ? 'expired' : 'lost', error, reason)
    if (isExpected) return
    // The server notified no client; local waiters may be able to enter now.
    if (reason === 'gone') client.queues.wakeWaiters(target)
    client.events.emit('permitLost', { semaphoreName: target.name, permitId: this.id, reason, error })
  }

  async release(): Promise<void> {
    const { semaphore, id } = this
    const { client } = semaphore
    if (this.isReleased) throw this.notHeld('it was released already')
    client.assertNotClosed()
    this.isReleased = true
    const began = client.clock.now()
    if (!this.checkLive()) {
      // The server may have it all the same: a clock was set forward, or the answer to a renewal was lost.
      if (this.lossReason !== 'gone') this.releaseOrphan(began)
      throw this.signal.reason
    }
    // Its renewals must not find it gone.
    this.beginRelease()
    client.leases.end(this)
    try {
      const [state] = await releasePermits(semaphore, [id], false)
      if (state !== 'released') {
        this.lose(this.book.isPastDeadline ? this.book.deadlineReason : 'gone')
        throw this.signal.reason
      }
    } catch (error) {
      if (error instanceof RedisUnavailableError || error instanceof RedisRefusedError)
        this.releaseOrphan(began)
      throw error
    } finally {
      this.end('released')
    }
  }

  /** Goes on in the background with a release that failed. */
  releaseOrphan(since: Moment): void {
    const { semaphore, id, book } = this
    semaphore.client.orphans.releaseNow(permitsOrphan(semaphore, [id], book.longest), since)
  }

  notHeld(why: string): PermitNotHeldError {
    return new PermitNotHeldError(
      `The permit ${this.id} of the semaphore ${quote(this.leased.name)} is not held: ${why} ` +
        `(client ${this.semaphore.client.clientId}).`,
      this.leased.name,
      [this.id],
    )
  }
}
