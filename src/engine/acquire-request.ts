import type { AcquireArguments } from '../api/arguments'
import type { Client } from '../client/client'
import type { BranchPlace } from '../ownership/branch-place'
import type { BareLevels, HoldEntry } from '../ownership/hold-table'
import type { Moment } from '../util/clock'
import type { Caller, Hold, Level } from './hold'
import type { LockKind } from './lock-kind'

/** What a caller asked for, and what is left of its wait. */
export class AcquireRequest {
  /** Its place among its siblings, if its thread acquires below a hold of an ancestor. */
  branchPlace: BranchPlace | undefined
  /** In ms; without a leaseTime, the lease that the watchdog renews. */
  readonly lease: number
  /** Of a new hold, in ms. */
  readonly maxHoldTime: number | undefined
  readonly signal: AbortSignal | undefined
  private readonly started: Moment | undefined

  constructor(
    readonly client: Client,
    readonly kind: LockKind,
    readonly caller: Caller,
    readonly options: AcquireArguments,
    /** The entry of its hold; undefined where each acquisition is an owner of its own. */
    readonly entry: HoldEntry<Hold> | undefined,
    /** Where its level belongs, if an `unlock()` has to end it. */
    readonly bare: BareLevels<Level> | undefined,
  ) {
    this.maxHoldTime = client.maxHoldOf(options)
    this.lease = options.leaseTime ?? Math.min(client.lockWatchdogTimeout, this.maxHoldTime ?? Infinity)
    this.signal = options.signal
    this.started = options.waitTime === undefined ? undefined : client.clock.now()
  }

  /** The rest of its wait, in ms; 0 or less: one try; undefined: without limit. */
  get waitTime(): number | undefined {
    return this.started && this.options.waitTime! - this.client.clock.elapsedSince(this.started)
  }

  get isWaitOver(): boolean {
    const { waitTime } = this
    return waitTime !== undefined && waitTime <= 0
  }

  /** Throws if the client shuts down or the caller has aborted. */
  assertWanted(): void {
    this.client.assertWanted(this.signal)
  }
}
