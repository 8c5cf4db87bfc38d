import type { Lease } from '../leases/lease'
import { type OwnedLevel, TIME_LEFT } from '../ownership/bare-levels'
import type { BranchPlace } from '../ownership/branch-place'
import type { LogicalThread } from '../ownership/logical-thread'
import type { Moment } from '../util/clock'

/** One acquisition within a hold. The first acquisition creates the hold, and each re-entry adds a level. */
export class HoldLevel<H extends Lease & OwnedLevel['hold']> implements OwnedLevel {
  bareIn: OwnedLevel['bareIn']

  constructor(
    readonly hold: H,
    /** Its lease in ms. Undefined: the watchdog renews the hold while this level lasts. */
    public leaseTime: number | undefined,
    /** When the command that acquired it was sent. */
    readonly granted: Moment,
    readonly thread: LogicalThread | undefined,
    /** Its place among its siblings, if the thread acquired below a hold of an ancestor. */
    readonly branchPlace: BranchPlace | undefined,
  ) {}

  get [TIME_LEFT](): number {
    const { hold } = this
    if (!hold.checkLive()) return 0
    return hold.needsWatchdog ? Number.POSITIVE_INFINITY : hold.book.remaining()
  }
}
