import { inspect } from 'node:util'
import { PermitNotHeldError, RedisRefusedError, RedisUnavailableError } from '../api/errors'
import type { Permit } from '../api/permit'
import { Lease, LeaseBook, type LossReason, renewalBy } from '../leases/lease'
import type { Reply } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import { permitsOrphan, releasePermits, timeoutsKey } from './expirable-permit-scripts'
import type { Synchronizer } from './synchronizer'

const RENEWAL = renewalBy('permit-expirable-semaphore/renew', ({ leased }) => timeoutsKey(leased.key))

/** Sets a lease on the server, in ms, and resolves with whether the permit is in use. */
type Update = (lease: number) => Promise<Reply<boolean>>

/** The lease of one permit. */
export class PermitLease extends Lease {
  /** The last command that sets its lease, until it is answered. */
  private lastUpdate: Promise<boolean> | undefined
  /** How many calls are in flight that release it together with others, or none of them. */
  private releasesInFlight = 0
  /** The server did not know it while such a call was in flight. The answer of the call says whether it was lost. */
  private isGone = false
  /** Until when the server may keep it by a lease that was set and perhaps not answered, by the monotonic clock in ms. */
  private mayLastUntil = 0
  /** It was given a lease, so its end is no loss. A lease that was asked for and not answered is none. */
  private endsWithItsLease: boolean

  constructor(
    readonly semaphore: Synchronizer,
    readonly id: string,
    granted: Moment,
    private leaseTime: number | undefined,
  ) {
    const { context, target } = semaphore
    // No related ids: one permit does not exclude waiters, so there is no self-deadlock to warn of.
    const leased = { ...target, objectId: `permit of ${target.key}`, relatedIds: [], renewal: RENEWAL }
    super(leased, id, new LeaseBook(context.clock, granted, leaseTime ?? context.lockWatchdogTimeout))
    this.endsWithItsLease = leaseTime !== undefined
  }

  get needsWatchdog(): boolean {
    return this.leaseTime === undefined
  }

  /**
   * Sets its lease after earlier calls; undefined: the watchdog renews it. While the command is in flight, the client assumes no
   * more than this lease. If it fails, the permit goes on as before.
   */
  set(leaseTime: number | undefined, update: Update): Promise<boolean> {
    const set = () => this.setAlone(leaseTime, update)
    const { lastUpdate } = this
    // Without an earlier one the command is sent at once, so that calls take effect in their order.
    const result = lastUpdate ? lastUpdate.then(set, set) : set()
    this.lastUpdate = result
    const forget = () => {
      if (this.lastUpdate === result) this.lastUpdate = undefined
    }
    result.then(forget, forget)
    return result
  }

  private async setAlone(leaseTime: number | undefined, update: Update): Promise<boolean> {
    const { context } = this.semaphore
    // It ended while an earlier call was in flight. The server may keep it, and no caller would release the new lease.
    if (this.state !== 'held') return false
    // A lease without end on the server would outlive this process.
    const lease = leaseTime ?? context.lockWatchdogTimeout
    // The answer may be that of an earlier copy, so the lease counts from the first one.
    const began = context.clock.now()
    const before = this.leaseTime
    // The watchdog takes it over when the server has the new lease: the one before may end earlier than the first renewal.
    this.leaseTime = leaseTime ?? before
    this.book.mayLast(lease)
    this.mayLastUntil = Math.max(this.mayLastUntil, began.monotonic + lease)
    const takeBack = this.book.mayShorten(began, lease)
    context.leases.update(this)
    try {
      const { value: isInUse, acknowledged } = await update(lease)
      // A permit that was lost meanwhile is being released.
      if (this.state !== 'held') return isInUse && this.state === 'released'
      if (!isInUse) {
        this.lose('gone')
        return false
      }
      this.leaseTime = leaseTime
      this.endsWithItsLease = leaseTime !== undefined
      this.book.set(began, lease)
      if (acknowledged) this.book.replicatedUpTo(began)
      return true
    } catch (error) {
      this.leaseTime = before
      if (error instanceof RedisRefusedError) takeBack()
      throw error
    } finally {
      if (this.state === 'held') context.leases.update(this)
    }
  }

  get holder(): string {
    return `permit ${this.id}`
  }

  renewalFailed(error: unknown): void {
    const { leased, owner, id } = this
    const { name: lockName, kind } = leased
    const event = { lockName, kind, owner, threadId: 0, permitId: id, error }
    this.semaphore.context.events.emit('renewalFailed', event)
  }

  lose(reason: LossReason): void {
    if (this.state !== 'held') return
    if (reason === 'gone' && this.releasesInFlight > 0) {
      this.isGone = true
      return
    }
    const { context, target } = this.semaphore
    const { longest, term } = this.book
    context.leases.end(this)
    this.lossReason = reason
    const error = this.notHeld(
      reason === 'gone' ? 'the server no longer knows it' : `its lease of ${term.lasts} ms ran out`,
    )
    const isExpected = reason === 'lease' && this.endsWithItsLease
    this.end(isExpected ? 'expired' : 'lost', context.clock.now(), error)
    // A command that set a longer lease, or set it anew, may have been applied, and its answer has not arrived.
    const mayLast = longest > term.lasts || this.mayLastUntil > term.since.monotonic + term.lasts
    if (reason === 'lease' && mayLast) this.releaseOrphan(context.clock.now())
    if (isExpected) return
    // The server notified no client; local waiters may be able to enter now.
    if (reason === 'gone') context.queues.mayBeFree(target)
    context.events.emit('permitLost', { semaphoreName: target.name, permitId: this.id, reason, error })
  }

  /** Goes on in the background with a release that failed. */
  releaseOrphan(since: Moment): void {
    const { semaphore, id, book } = this
    semaphore.context.orphans.releaseNow(permitsOrphan(semaphore, [id], book.longest), since)
  }

  get isBeingReleased(): boolean {
    return this.releasesInFlight > 0
  }

  /** A call was sent whose answer says whether it is released. */
  releaseBegins(): void {
    this.releasesInFlight++
  }

  /** The answer has come, and said so by `wasReleased()`. */
  releaseEnds(): void {
    this.releasesInFlight--
    if (this.isGone) this.lose('gone')
  }

  /** It is released, by itself or by its id. */
  wasReleased(): void {
    if (this.state !== 'held') return
    this.state = 'released'
    this.semaphore.context.leases.end(this)
  }

  notHeld(why: string): PermitNotHeldError {
    return new PermitNotHeldError(
      `The permit ${this.id} of the semaphore ${quote(this.leased.name)} is not held: ${why} ` +
        `(client ${this.semaphore.context.clientId}).`,
      this.leased.name,
      [this.id],
    )
  }
}

/** Releases permits, and ends the leases among them that this client holds as objects: `own`. Resolves with their states. */
export async function releaseWithLeases(
  semaphore: Synchronizer,
  ids: readonly string[],
  own: readonly PermitLease[],
  all: boolean,
) {
  // Their renewals must not find them gone. With `all`, only the answer says whether they are released.
  for (const lease of own)
    if (all) lease.releaseBegins()
    else lease.wasReleased()
  const began = semaphore.context.clock.now()
  try {
    const { value, connectionBroke } = await releasePermits(semaphore, ids, all)
    // After a broken connection "absent" may mean success: an earlier copy of this call was applied.
    const areGone = value.states.every((state) => state === 'absent')
    const mayBeReleased = connectionBroke && (!all || areGone)
    const states = value.states.map((state) => (mayBeReleased && state === 'absent' ? 'released' : state))
    const areReleased = states.every((state) => state === 'released')
    for (const lease of own)
      if (areReleased) lease.wasReleased()
      else if (states[ids.indexOf(lease.id)] === 'absent') lease.lose('gone')
    return states
  } catch (error) {
    const isUnavailable = error instanceof RedisUnavailableError
    // The object ends, and no watchdog renews the permit any more. What was refused with `all` goes on.
    if (isUnavailable || (!all && error instanceof RedisRefusedError))
      for (const lease of own) {
        lease.wasReleased()
        lease.releaseOrphan(began)
      }
    throw error
  } finally {
    if (all) for (const lease of own) lease.releaseEnds()
  }
}

/** See the interface. */
export class AcquiredPermit implements Permit {
  released = false

  constructor(readonly lease: PermitLease) {}

  get id(): string {
    return this.lease.id
  }

  get semaphoreName(): string {
    return this.lease.leased.name
  }

  get signal(): AbortSignal {
    this.lease.checkLive()
    return this.lease.signal
  }

  get isHeld(): boolean {
    return this.lease.checkLive() && !this.lease.isBeingReleased
  }

  async release(): Promise<void> {
    const { lease, id } = this
    const { semaphore } = lease
    if (isReleased(this)) throw lease.notHeld('it was released already')
    semaphore.context.assertNotClosed()
    this.released = true
    if (!lease.checkLive()) {
      // The server may have it all the same: a clock was set forward, or updateLeaseTime() reached the server before its end.
      if (lease.lossReason === 'lease') lease.releaseOrphan(semaphore.context.clock.now())
      throw lease.signal.reason
    }
    const [state] = await releaseWithLeases(semaphore, [id], [lease], false)
    if (state !== 'released') throw lease.notHeld('the server no longer knows it')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!isReleased(this)) await this.release()
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `Permit(${quote(this.semaphoreName)}, ${this.id})`
  }

  toJSON(): object {
    return { semaphoreName: this.semaphoreName, id: this.id }
  }
}

function isReleased({ released, lease }: AcquiredPermit): boolean {
  return released || lease.state === 'released'
}
