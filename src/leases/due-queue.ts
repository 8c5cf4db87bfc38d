import type { Clock, Moment } from '../util/clock'

/** An entry of a due queue. It is in one queue at a time. */
export class DueEntry<T> {
  queue: DueQueue<T> | undefined
  /** From when its time in the queue counts. */
  since!: Moment
  before: DueEntry<T> | undefined
  behind: DueEntry<T> | undefined

  constructor(readonly item: T) {}
}

/**
 * A queue in which every entry waits for the same time, so the first entry is the next that is due. It is a linked list,
 * because a Map is slow here: after thousands of deletions at its head, each read of its first entry skips all deleted ones.
 */
export class DueQueue<T> {
  private first: DueEntry<T> | undefined
  private last: DueEntry<T> | undefined
  private hurriedAt = Number.NEGATIVE_INFINITY
  /** The last entry that was inserted before others, or its predecessor if it has left. The next search starts here. */
  private late: DueEntry<T> | undefined

  constructor(
    private readonly clock: Clock,
    /** How long each entry waits here, in ms. */
    private readonly wait: number,
  ) {}

  /**
   * Moves an entry from its queue into this one, in order of time. Its place is usually the end. A renewal that was answered
   * late goes before others: otherwise its next renewal would be late, too.
   */
  enter(entry: DueEntry<T>, since: Moment): void {
    entry.queue?.leave(entry)
    entry.queue = this
    entry.since = since
    const before = this.lastNotAfter(since.monotonic)
    const behind = before ? before.behind : this.first
    entry.before = before
    entry.behind = behind
    if (before) before.behind = entry
    else this.first = entry
    if (behind) behind.before = entry
    else this.last = entry
    if (behind) this.late = entry
  }

  // A cluster node that stalled answers thousands of renewals at once, all late. The search for each place starts at the
  // last late entry. A search from the end would pass all entries that other nodes have answered since.
  private lastNotAfter(time: number): DueEntry<T> | undefined {
    let found = this.last
    if (!found || found.since.monotonic <= time) return found
    found = this.late ?? found
    while (found && found.since.monotonic > time) found = found.before
    let behind = found ? found.behind : this.first
    while (behind && behind.since.monotonic <= time) {
      found = behind
      behind = behind.behind
    }
    return found
  }

  leave(entry: DueEntry<T>): void {
    const { before, behind } = entry
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    if (this.late === entry) this.late = before
    entry.queue = entry.before = entry.behind = undefined
  }

  /** Makes every entry due whose `since` is not after this moment, also one that enters later with such a `since`. */
  hurry(): void {
    this.hurriedAt = this.clock.now().monotonic
  }

  *inOrder(): Iterable<DueEntry<T>> {
    for (let entry = this.first; entry; entry = entry.behind) yield entry
  }

  /** Milliseconds until the first entry is due, by the clock that advanced further. */
  firstRemaining(): number {
    if (!this.first) return Number.POSITIVE_INFINITY
    const { since } = this.first
    return since.monotonic <= this.hurriedAt ? 0 : this.wait - this.clock.elapsedSince(since)
  }

  /** The first entry, if it is due, or will be within `ahead` ms. */
  due(ahead = 0): DueEntry<T> | undefined {
    return this.firstRemaining() <= ahead ? this.first : undefined
  }
}
