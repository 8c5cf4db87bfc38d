import type { Lease, Renewal } from './lease'

/** How many leases one tick of the event loop may renew: some milliseconds of work. */
const MAX_COST = 1_200
/** One call counts like this many leases. So the many small calls of a cluster are bounded as well. */
const COST_OF_A_CALL = 20

/** The leases that one tick of the event loop renews, in batches. Each batch is one call. */
export class RenewalBatches {
  private readonly full: Lease[][] = []
  private readonly open = new Map<Renewal, Map<number, Lease[]>>()
  private cost = 0

  constructor(
    private readonly batchSize: number,
    /** The group of a key. Leases of one group may share a call. */
    private readonly groupOf: (key: string) => number,
  ) {}

  get hasAny(): boolean {
    return this.cost > 0
  }

  get isFull(): boolean {
    return this.cost >= MAX_COST
  }

  add(lease: Lease): void {
    const { renewal, key } = lease
    const groups = this.open.get(renewal) ?? new Map<number, Lease[]>()
    this.open.set(renewal, groups)
    const group = this.groupOf(key)
    const batch = groups.get(group) ?? []
    groups.set(group, batch)
    if (batch.length === 0) this.cost += COST_OF_A_CALL
    batch.push(lease)
    this.cost++
    if (batch.length < this.batchSize) return
    this.full.push(batch)
    groups.delete(group)
  }

  *batches(): Iterable<readonly Lease[]> {
    yield* this.full
    for (const groups of this.open.values()) yield* groups.values()
  }
}
