import calculateSlot from 'cluster-key-slot'
import { getOrCreate } from '../util/get-or-create'
import type { Renewal } from './leased'
import type { Watched } from './watched'

/** Leases that one call renews for the same time, in ms. */
export interface RenewalBatch {
  readonly entries: Watched[]
  readonly lasts: number
}

const CLUSTER_SLOTS = 16_384

/** How many leases one tick of the event loop may renew: some milliseconds of work. */
const MAX_COST = 1_200
/** One call counts like this many leases. So the many small calls of a cluster are bounded as well. */
const COST_OF_A_CALL = 20

/** The leases that one tick of the event loop renews, in batches. Each batch is one call. */
export class RenewalBatches {
  readonly batches: RenewalBatch[] = []
  /** The newest batch of each renewal and group. */
  private readonly newest = new Map<Renewal, Map<number, RenewalBatch>>()
  private cost = 0

  constructor(
    private readonly lockWatchdogBatchSize: number,
    /** Whether the leases of one call must share a slot. */
    private readonly isSlotted: boolean,
  ) {}

  get isFull(): boolean {
    return this.cost >= MAX_COST
  }

  /** `lasts`: the time for which to renew it, in ms. */
  add(entry: Watched, lasts: number): void {
    const { isAlone, lease } = entry
    const { renewal, key } = lease.leased
    const groups = getOrCreate(this.newest, renewal, () => new Map<number, RenewalBatch>())
    const group = (this.isSlotted ? calculateSlot(key) : 0) + CLUSTER_SLOTS * lasts
    let batch = isAlone ? undefined : groups.get(group)
    if (!batch || batch.entries.length === this.lockWatchdogBatchSize) {
      batch = { entries: [], lasts }
      if (!isAlone) groups.set(group, batch)
      this.batches.push(batch)
      this.cost += COST_OF_A_CALL
    }
    batch.entries.push(entry)
    this.cost++
  }
}
