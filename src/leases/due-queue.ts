import type { Clock, Moment } from '../util/clock'

/** Stands in one due queue at a time. */
export interface Due<T extends Due<T>> {
  queue: DueQueue<T> | undefined
  /** Since when it stands there. */
  since: Moment
  before: T | undefined
  behind: T | undefined
}

/**
 * A queue in which each waits for the same time, so that the first is the next. It is a linked list, because a Map is
 * slow here: after thousands of deletions at its head, each look at the first entry skips all deleted ones.
 */
export class DueQueue<T extends Due<T>> {
  private first: T | undefined
  private last: T | undefined
  private hurriedAt = Number.NEGATIVE_INFINITY
  /** The entry that was last put before others, or the one before it if it has left: the next search starts here. */
  private late: T | undefined

  constructor(
    private readonly clock: Clock,
    /** How long each stands here, in ms. */
    private readonly wait: number,
  ) {}

  /**
   * Moves an entry from its queue into this one, in order of time. Its place is usually the end. A renewal that was
   * answered late goes before others, or its next renewal would be late, too.
   */
  enter(item: T, since: Moment): void {
    item.queue?.leave(item)
    item.queue = this
    item.since = since
    const before = this.lastNotAfter(since.monotonic)
    const behind = before ? before.behind : this.first
    item.before = before
    item.behind = behind
    if (before) before.behind = item
    else this.first = item
    if (behind) behind.before = item
    else this.last = item
    if (behind) this.late = item
  }

  // A cluster node that stalled answers thousands of renewals at once, all late. The search for each place starts at the
  // last late entry: from the end it would pass all entries that other nodes answered in the meantime.
  private lastNotAfter(time: number): T | undefined {
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

  leave(item: T): void {
    const { before, behind } = item
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    if (this.late === item) this.late = before
    item.queue = item.before = item.behind = undefined
  }

  /** Makes every entry due whose `since` is not after this moment, also one that enters later with such a `since`. */
  hurry(): void {
    this.hurriedAt = this.clock.now().monotonic
  }

  *inOrder(): Iterable<T> {
    for (let item = this.first; item; item = item.behind) yield item
  }

  /** Milliseconds until the time of the first is over, by whichever clock advanced further. */
  firstRemaining(): number {
    if (!this.first) return Number.POSITIVE_INFINITY
    const { since } = this.first
    return since.monotonic <= this.hurriedAt ? 0 : this.wait - this.clock.elapsedSince(since)
  }

  /** The first, if its time here is over, or will be within `ahead` ms. */
  due(ahead = 0): T | undefined {
    return this.firstRemaining() <= ahead ? this.first : undefined
  }
}
