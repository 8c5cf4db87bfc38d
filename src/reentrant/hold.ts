import type { Context } from '../client/context'
import { Lease, type Leased, type LossReason, type Renewal } from '../leases/lease'
import type { BranchPlace, HoldBranches } from '../ownership/branch-place'
import type { Caller as CallerOf } from '../ownership/caller'
import type { HoldRef as HoldRefOf } from '../ownership/hold-table'
import type { LogicalThread } from '../ownership/logical-thread'
import type { Moment } from '../util/clock'

/** A caller whose holds are those of this engine. */
export type Caller = CallerOf<Hold>

/** Where a hold of this engine is kept for its caller. */
export type HoldRef = HoldRefOf<Hold>

/** One acquisition within a hold; the first makes the hold, each re-entry adds one. */
export interface Level extends LevelOrigin {
  /** Its lease in ms, or none: then the watchdog renews the hold while this level lasts. */
  readonly leaseTime: number | undefined
  /** When the command that acquired it was sent. */
  readonly granted: Moment
}

/** The caller that acquired a level, and how it did. */
export interface LevelOrigin {
  /** It belongs to a LockHold or a `withLock`, and only those may release it. */
  readonly byToken: boolean
  /** The logical thread that acquired it; none for a caller without one. */
  readonly thread: LogicalThread | undefined
  /** Its place beside its siblings, where the thread acquired below a hold of an ancestor. */
  readonly branchPlace: BranchPlace | undefined
}

/** Ends a hold that was not released. */
export type LoseHold = (context: Context, hold: Hold, reason: LossReason) => void

/** What one owner has of one lock: a thread id of its own on the wire, and its levels. */
export class Hold extends Lease {
  readonly levels: Level[] = []
  /** What the newest grant brought along, where grants of this kind of lock do. */
  grant: unknown
  /** Where its caller finds it again; a caller without a scope keeps it itself. */
  ref: HoldRef | undefined
  /** The logical thread that acquired it, though it may have ended; none for an explicit caller. */
  thread: LogicalThread | undefined
  /** The descendants of its owner that are inside it or wait to be; made for the first of them. */
  branches: HoldBranches | undefined
  /**
   * A late copy of its acquisition may acquire the lock after its end; this releases what the copy acquired. Set only
   * where a connection broke and could not be fenced.
   */
  releaseLateCopy: (() => void) | undefined
  /** Releases what the server may keep of it beyond the end that is known here. */
  releaseOrphan: (() => void) | undefined
  /** The end that the last partial release saw: by it a late copy is known from one in time. */
  releasedEnd = 0
  private readonly ownerIsSecret: boolean
  private lastOperation: Promise<unknown> | undefined

  constructor(
    private readonly context: Context,
    private readonly onLost: LoseHold,
    lock: Leased & { readonly renewal: Renewal; readonly ownerIsSecret?: boolean },
    readonly threadId: number,
    ownerField: string,
    acquired: Moment,
    lease: number,
  ) {
    super(context.clock, lock, ownerField, lock.renewal, acquired, lease)
    this.ownerIsSecret = lock.ownerIsSecret === true
  }

  override get owner(): string {
    return this.ownerIsSecret ? `${this.context.clientId}:${this.threadId}` : this.ownerField
  }

  get needsWatchdog(): boolean {
    return this.levels.some((level) => level.leaseTime === undefined)
  }

  get holder(): string {
    return `thread id ${this.threadId}`
  }

  lose(reason: LossReason): void {
    this.onLost(this.context, this, reason)
  }

  renewalFailed(error: unknown): void {
    const { lockName, kind, owner, threadId } = this
    this.context.events.emit('renewalFailed', { lockName, kind, owner, threadId, error })
  }

  /** The lease that the key needs for the levels there are. */
  leaseForLevels(watchdogTimeout: number): number {
    return Math.max(...this.levels.map((level) => level.leaseTime ?? watchdogTimeout))
  }

  /**
   * What the levels there are still need of leases that run on. A level without a lease needs the watchdog's in full:
   * what is left of a longer lease that was just released says nothing about it.
   */
  needOfLevels(watchdogTimeout: number): number {
    return Math.max(
      ...this.levels.map(({ leaseTime, granted }) =>
        leaseTime === undefined ? watchdogTimeout : leaseTime - this.clock.elapsedSince(granted),
      ),
    )
  }

  override refuseEntry(): void {
    this.branches?.close()
  }

  /** It has ended: sees to the copy of its acquisition that may still arrive, if there is one. */
  releaseLateCopyOnce(): void {
    const { releaseLateCopy } = this
    this.releaseLateCopy = undefined
    releaseLateCopy?.()
  }

  /** Runs operations on this hold one after the other, in the order in which they are asked for. */
  runSerially<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.lastOperation ? this.lastOperation.then(operation, operation) : startNow(operation)
    this.lastOperation = result
    return result
  }
}

/** Synchronously, so that calls take effect in the order in which they are made. */
function startNow<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return operation()
  } catch (error) {
    return Promise.reject(error)
  }
}
