import calculateSlot from 'cluster-key-slot'
import type { Lease, Renewal } from './lease'

/** How many leases one tick of the event loop may renew: some milliseconds of work. */
const MAX_COST = 1_200
/** One call counts like this many leases. So the many small calls of a cluster are bounded as well. */
const COST_OF_A_CALL = 20

/** The leases that one tick of the event loop renews, in batches. Each batch is one call. */
export class RenewalBatches {
  readonly batches: Lease[][] = []
  /** The newest batch of each renewal and group. */
  private readonly newest = new Map<Renewal, Map<number, Lease[]>>()
  private cost = 0

  constructor(
    private readonly lockWatchdogBatchSize: number,
    /** Whether the leases of one call must share a slot. */
    private readonly isSlotted: boolean,
  ) {}

  get isFull(): boolean {
    return this.cost >= MAX_COST
  }

  /** `isAlone`: in a call of its own. */
  add(lease: Lease, isAlone: boolean): void {
    const { renewal, key } = lease.leased
    const groups = this.newest.get(renewal) ?? new Map<number, Lease[]>()
    this.newest.set(renewal, groups)
    const group = this.isSlotted ? calculateSlot(key) : 0
    let batch = isAlone ? undefined : groups.get(group)
    if (!batch || batch.length === this.lockWatchdogBatchSize) {
      batch = []
      if (!isAlone) groups.set(group, batch)
      this.batches.push(batch)
      this.cost += COST_OF_A_CALL
    }
    batch.push(lease)
    this.cost++
  }
}
