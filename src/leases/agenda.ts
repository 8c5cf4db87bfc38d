interface Plan<T> {
  readonly item: T
  readonly at: number
}

/**
 * Items in order of the time at which each of them is due: a binary heap. An item has one time. The heap
 * keeps a time that was replaced or removed until it comes to the front, or until most of its times are such.
 */
export class Agenda<T> {
  private heap: Plan<T>[] = []
  private readonly plans = new Map<T, Plan<T>>()

  /** When this item is due; Infinity: it has no time here. */
  at(item: T): number {
    return this.plans.get(item)?.at ?? Number.POSITIVE_INFINITY
  }

  set(item: T, at: number): void {
    const plan = { item, at }
    this.plans.set(item, plan)
    this.rise(plan)
    this.tidy()
  }

  delete(item: T): void {
    if (this.plans.delete(item)) this.tidy()
  }

  /** The item that is due first. */
  get first(): T | undefined {
    let [plan] = this.heap
    while (plan && this.plans.get(plan.item) !== plan) {
      this.dropFirst()
      ;[plan] = this.heap
    }
    return plan?.item
  }

  /** When the first item is due; Infinity: there is none. */
  get next(): number {
    return this.first === undefined ? Number.POSITIVE_INFINITY : this.heap[0]!.at
  }

  private tidy() {
    if (this.heap.length <= 2 * this.plans.size + 16) return
    this.heap = [...this.plans.values()].sort((a, b) => a.at - b.at)
  }

  private rise(plan: Plan<T>) {
    const { heap } = this
    let index = heap.push(plan) - 1
    while (index > 0) {
      const above = (index - 1) >> 1
      if (heap[above]!.at <= plan.at) break
      heap[index] = heap[above]!
      index = above
    }
    heap[index] = plan
  }

  private dropFirst() {
    const { heap } = this
    const plan = heap.pop()!
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let below = 2 * index + 1
      if (below + 1 < heap.length && heap[below + 1]!.at < heap[below]!.at) below++
      if (below >= heap.length || heap[below]!.at >= plan.at) break
      heap[index] = heap[below]!
      index = below
    }
    heap[index] = plan
  }
}
