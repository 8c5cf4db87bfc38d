import type { Renewal } from './renewal'
import type { Watched } from './stage'

/** What a slice may cost, counted in holds: some milliseconds of the event loop. */
const COST = 1_200
/** A call costs as much as so many holds in it, so that a cluster's many small ones are bounded as well. */
const COST_OF_A_CALL = 20

/** What is renewed in one turn of the event loop, in batches of which each shares a call. */
export class Slice {
  private readonly full: Watched[][] = []
  private readonly open = new Map<Renewal, Map<number, Watched[]>>()
  private cost = 0

  constructor(
    private readonly batchSize: number,
    /** What may share a call. */
    private readonly groupOf: (key: string) => number,
  ) {}

  get hasAny(): boolean {
    return this.cost > 0
  }

  get isFull(): boolean {
    return this.cost >= COST
  }

  add(watched: Watched): void {
    const { renewal, hold } = watched
    const groups = this.open.get(renewal) ?? new Map<number, Watched[]>()
    this.open.set(renewal, groups)
    const group = this.groupOf(hold.key)
    const batch = groups.get(group) ?? []
    groups.set(group, batch)
    if (batch.length === 0) this.cost += COST_OF_A_CALL
    batch.push(watched)
    this.cost++
    if (batch.length < this.batchSize) return
    this.full.push(batch)
    groups.delete(group)
  }

  *batches(): Iterable<readonly Watched[]> {
    yield* this.full
    for (const groups of this.open.values()) yield* groups.values()
  }
}
