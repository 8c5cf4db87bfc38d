import { type LockLostError, WrongTypeError } from '../api/errors'
import type { Client } from '../client/client'
import { Lease, type LossReason } from '../leases/lease'
import type { LeaseBook } from '../leases/lease-book'
import type { Orphan } from '../leases/orphan-releaser'
import { Branches, type BranchPlace } from '../ownership/branch-queue'
import type { Acquirer, Caller as CallerOf } from '../ownership/caller'
import type { HoldEntry } from '../ownership/hold-table'
import type { LogicalThread } from '../ownership/logical-thread'
import type { OwnedLevel } from '../ownership/owned-hold'
import { ownerField } from '../ownership/owner-field'
import type { Reply } from '../scripts/reply'
import type { ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import type { LeasedLock } from './leased-lock'
import { lockOrphan } from './lock-orphan'
import { lockLost, releasedAlready } from './not-held'

/** A caller with holds of this engine. */
export type Caller = CallerOf<Level>

/** What a hold and its levels take from the calls that acquire them. */
interface Request {
  readonly client: Client
  readonly kind: LeasedLock
  readonly options: { readonly leaseTime: number | undefined }
  readonly acquirer: Acquirer<Level>
}

/** The new owner whose attempt was granted. */
interface NewOwner {
  readonly threadId: number
  /** The hash field, or the token, that marks the hold in Redis. */
  readonly owner: string
  readonly at?: string | undefined
}

/** The hold of one owner on one lock. It has a thread id of its own on the wire, and one or more levels. */
export class Hold extends Lease {
  readonly client: Client
  readonly leased: LeasedLock
  readonly threadId: number
  readonly ownerField: string
  declare readonly at: string | undefined
  /** The entry of its caller in a hold table. A caller without a scope has none. */
  readonly entry: HoldEntry<Level> | undefined
  /** In the order in which they were acquired. */
  readonly levels = new Set<Level>()
  private newestGrant: unknown
  private lazyBranches: Branches | undefined
  /** The server may have more of it than this client knows: a command was not answered, or may come late. */
  private isUncertain = false
  private lastOperation: Promise<unknown> | undefined

  constructor(
    request: Request,
    { threadId, owner, at }: NewOwner,
    readonly book: LeaseBook,
    grant: unknown,
  ) {
    super()
    this.client = request.client
    this.leased = request.kind
    this.entry = request.acquirer.entry
    this.threadId = threadId
    this.ownerField = owner
    this.at = at
    this.addLevel(request, book.acquired, grant)
  }

  /** The descendants of its owner that are inside it or wait to be; created for the first of them. */
  get branches(): Branches {
    this.lazyBranches ??= new Branches()
    return this.lazyBranches
  }

  /** The payload of its newest grant, if grants of this kind of lock have one. */
  get grant(): unknown {
    return this.newestGrant
  }

  override get owner(): string {
    return this.leased.ownerIsSecret ? ownerField(this.client.clientId, this.threadId) : this.ownerField
  }

  override get thread(): LogicalThread | undefined {
    const [oldest] = this.levels
    return oldest?.thread
  }

  get needsWatchdog(): boolean {
    for (const { leaseTime } of this.levels) if (leaseTime === undefined) return true
    return false
  }

  get holder(): string {
    return `thread id ${this.threadId}`
  }

  /** It is not there any more. Also where the answer to its release says so. */
  lose(reason: LossReason): void {
    if (this.hasEnded) return
    const outcome = reason === 'lease' && !this.needsWatchdog ? 'expired' : 'lost'
    const error = this.lossError(reason)
    this.unregister(outcome === 'lost' ? error : undefined)
    this.releaseRest(reason, outcome)
    // From here on code of the user runs, which may call `lock()` and `unlock()`.
    this.end(outcome, error, reason)
    if (outcome === 'expired') return
    const { client, leased, owner, threadId } = this
    // The server notified no client; local waiters may be able to enter now.
    if (reason === 'gone') client.queues.wakeWaiters(leased)
    const { name: lockName, kind } = leased
    client.events.emit('lockLost', { lockName, kind, owner, threadId, reason, error })
  }

  /** Its last level has ended, and nothing is sent: the server keeps it until its lease ends. */
  leaveToLease(): void {
    this.unregister()
    this.releaseRest('lease', 'expired')
    this.end('released')
  }

  /**
   * Nothing finds it as a held one any more. Each `unlock()` that is still to come finds that its level has
   * ended; with a loss it stays in its entry until then. A second time this changes nothing.
   */
  unregister(loss?: LockLostError): void {
    const { client, entry } = this
    client.leases.end(this)
    for (const level of this.levels) {
      if (!level.bareIn) continue
      this.drop(level)
      level.bareIn.ended(level, loss)
    }
    if (loss) entry?.somethingEnded()
    else entry?.forget(this)
  }

  /**
   * Releases what the server may still have of it, but not before its lease is over: its holder may count on
   * that.
   *
   * | it has ended by      | the server may have                              | so it is released            |
   * | -------------------- | ------------------------------------------------ | ---------------------------- |
   * | its explicit lease   | nothing, unless other holds keep the key         | then, after its lease        |
   * | any other deadline   | the rest of its lease                            | after its lease              |
   * | gone, forced         | nothing                                          | not                          |
   * | any, if uncertain    | what a late copy makes                           | in any case                  |
   */
  private releaseRest(reason: LossReason, outcome: 'expired' | 'lost') {
    const { client, book, leased, isUncertain } = this
    const isOver = reason === 'lease' || reason === 'limit'
    const mayRemain = isOver && (outcome === 'lost' || leased.keyOutlivesLease === true)
    if (!mayRemain && !isUncertain) return
    const release = () => this.releaseOrphan(Math.max(book.longest, client.lockWatchdogTimeout))
    client.clock.after(isOver ? Math.max(0, book.left()) : 0, release)
  }

  /** Releases it in the background: its lease of so many ms was last set at `since`. */
  releaseOrphan(lease = this.book.longest, since = this.client.clock.now()): void {
    this.client.orphans.releaseNow(this.orphan(lease), since)
  }

  /** What the server may have of it, with a lease of so many ms. */
  orphan(lease = this.book.longest): Orphan {
    return lockOrphan(this.client, this.leased, this.ownerField, lease)
  }

  /** The next operation sets the count, but a copy of the one before may come: its end releases the rest. */
  becameUncertain(): void {
    this.isUncertain = true
    if (this.hasEnded) this.releaseOrphan()
  }

  /** The answer, or `gone` where the key holds something else. Without an answer it becomes uncertain. */
  async answerTo<Value>(call: ScriptCall<Value>, gone: Value): Promise<Omit<Reply<Value>, 'hasLostCopy'>> {
    try {
      return await call.answer
    } catch (error) {
      if (error instanceof WrongTypeError) return { value: gone, sent: call.started, acknowledged: true }
      this.becameUncertain()
      throw error
    }
  }

  /** For its holder, when it has ended without a release. */
  lossError(reason = this.lossReason): LockLostError {
    return lockLost(this, reason)
  }

  /** The server granted a level by a command that was sent then. Without a payload the newest one stays. */
  addLevel({ options, acquirer }: Request, sent: Moment, grant: unknown): Level {
    const level = new Level(this, options.leaseTime, sent, acquirer.caller.thread, acquirer.bare)
    this.levels.add(level)
    this.newestGrant = grant ?? this.newestGrant
    return level
  }

  /** Its holder ends one of its levels. Throws LockLostError if the hold itself has ended before. */
  endLevel(level: Level): void {
    const live = this.checkLive()
    this.drop(level)
    if (live) return
    this.entry?.somethingEnded()
    throw this.lossError()
  }

  /** A level ends once: otherwise a second release would free the level of another caller. */
  private drop(level: Level) {
    if (!this.levels.delete(level))
      throw releasedAlready(this.client, { lockName: this.leased.name, threadId: this.threadId })
    level.leavePlace()
  }

  async countLevels(): Promise<number> {
    const { count } = (await this.leased.inspect(this.ownerField).answer).value
    if (count === 0 && this.state === 'held') this.lose('gone')
    return count
  }

  renewalFailed(error: unknown): void {
    const { leased, owner, threadId } = this
    const { name: lockName, kind } = leased
    this.client.events.emit('renewalFailed', { lockName, kind, owner, threadId, error })
  }

  /**
   * The longest lease among its levels. A level without a lease counts with that of the watchdog. In a shared
   * lock, where each level keeps its own end, a lease counts less what has elapsed.
   */
  leaseForLevels(): number {
    const longest = Math.max(
      ...Array.from(this.levels, ({ leaseTime, sent }) => {
        if (leaseTime === undefined) return this.client.lockWatchdogTimeout
        return this.leased.shared ? leaseTime - this.client.clock.elapsedSince(sent) : leaseTime
      }),
    )
    return this.book.withinLimit(longest)
  }

  override refuseEntry(): void {
    this.lazyBranches?.close()
  }

  /** Runs the operations on this hold one after the other, in the order of their calls. */
  runSerially<T>(operation: () => Promise<T>): Promise<T> {
    // The first one starts at once, so that calls take effect in their order.
    const result = this.lastOperation ? this.lastOperation.then(operation, operation) : operation()
    this.lastOperation = result
    return result
  }
}

/** One acquisition within a hold. The first acquisition creates the hold, and each re-entry adds a level. */
export class Level implements OwnedLevel {
  /** Its place among its siblings, if its thread acquired below a hold of an ancestor. */
  private place: BranchPlace | undefined

  constructor(
    readonly hold: Hold,
    private ownLease: number | undefined,
    /** When the command that acquired it was sent. */
    readonly sent: Moment,
    readonly thread: LogicalThread | undefined,
    public bareIn: OwnedLevel['bareIn'],
  ) {}

  /** Its lease in ms. Undefined: the watchdog renews the hold while this level lasts. */
  get leaseTime(): number | undefined {
    return this.ownLease
  }

  /** It is inside at this place until it ends. It may have ended already. */
  take(place: BranchPlace): void {
    if (this.hold.levels.has(this)) this.place = place
    else place.leave()
  }

  leavePlace(): void {
    this.place?.leave()
  }

  /** The watchdog renews it from now on. */
  renewFromNow(): void {
    this.ownLease = undefined
    this.hold.client.leases.renewNow(this.hold)
  }

  checkLive(): boolean {
    return this.hold.checkLive() && this.hold.levels.has(this)
  }

  get timeLeft(): number {
    const { hold } = this
    return hold.needsWatchdog ? Number.POSITIVE_INFINITY : hold.book.remaining()
  }
}
