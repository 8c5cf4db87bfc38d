import type { AcquireArguments } from '../api/arguments'
import type { Context } from '../client/context'
import type { BranchPlace } from '../ownership/branch-place'
import type { Moment } from '../util/clock'
import type { AcquiredLockHold } from './acquired-lock-hold'
import type { Caller, Hold, HoldRef, Level } from './hold'
import type { AnyLockScripts } from './lock-scripts'

/** The class of the LockHolds of one kind of lock. */
export type HandleClass<Handle extends AcquiredLockHold> = new (
  scripts: AnyLockScripts,
  hold: Hold,
  level: Level,
) => Handle

export type AnyAcquireRequest = AcquireRequest<AcquiredLockHold>

/** What a caller asked for, and what is left of its wait. */
export class AcquireRequest<Handle extends AcquiredLockHold> {
  /** Its place among its siblings, if its thread acquires below a hold of an ancestor. */
  branchPlace: BranchPlace | undefined
  /** The entry of its hold; undefined where each acquisition is an owner of its own. */
  readonly place: HoldRef | undefined
  /** In ms; without a leaseTime, the lease that the watchdog renews. */
  readonly lease: number
  readonly signal: AbortSignal | undefined
  private readonly started: Moment | undefined

  constructor(
    readonly context: Context,
    readonly scripts: AnyLockScripts,
    private readonly Handle: HandleClass<Handle>,
    readonly caller: Caller,
    private readonly options: AcquireArguments,
    private readonly byToken: boolean,
  ) {
    this.place = caller.entryToAcquire(scripts.objectId)
    this.lease = options.leaseTime ?? context.lockWatchdogTimeout
    this.signal = options.signal
    this.started = options.waitTime === undefined ? undefined : context.clock.now()
  }

  /** The rest of its wait, in ms; 0 or less: one try; undefined: without limit. */
  get waitTime(): number | undefined {
    return this.started && this.options.waitTime! - this.context.clock.elapsedSince(this.started)
  }

  get isWaitOver(): boolean {
    const { waitTime } = this
    return waitTime !== undefined && waitTime <= 0
  }

  /** Throws if the client shuts down or the caller has aborted. */
  assertWanted(): void {
    this.context.assertOpen()
    this.signal?.throwIfAborted()
  }

  /** Adds the level that was acquired by a command sent at `granted`. */
  addLevel(hold: Hold, granted: Moment): Handle {
    const { byToken, branchPlace, caller, options } = this
    const level = { leaseTime: options.leaseTime, granted, byToken, thread: caller.thread, branchPlace }
    hold.levels.add(level)
    return new this.Handle(this.scripts, hold, level)
  }
}
