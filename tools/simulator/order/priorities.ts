import { Stream } from '../../../packages/testing/src/simulation/choices'
import type { Event } from '../../../packages/testing/src/simulation/timeline'
import type { Order } from '../run-schedule'

/** Priorities change within so many events of a run. */
const EVENTS = 2_000

/**
 * Probabilistic concurrency testing (Burckhardt and others, 2010): each process and each direction of a connection has a random
 * priority, and the highest that can go on does. At `depth - 1` random events the one that goes on falls below all others. So a
 * fault that needs few orderings, far apart, is met with a probability that is known.
 */
export class Priorities implements Order {
  private readonly chance: Stream
  private readonly priorities = new Map<unknown, number>()
  private readonly changes: ReadonlySet<number>
  private events = 0
  private lowest = 0

  constructor(depth: number, seed: number) {
    this.chance = new Stream(seed)
    this.changes = new Set(Array.from({ length: depth - 1 }, () => this.chance.choose(EVENTS)))
  }

  choose(possible: readonly Event[]): Event {
    let highest = possible[0]!
    for (const event of possible) if (this.priorityOf(event) > this.priorityOf(highest)) highest = event
    if (this.changes.has(this.events++)) this.priorities.set(highest.chain, --this.lowest)
    return highest
  }

  private priorityOf({ chain }: Event): number {
    let priority = this.priorities.get(chain)
    if (priority === undefined) {
      priority = this.chance.fraction()
      this.priorities.set(chain, priority)
    }
    return priority
  }
}
