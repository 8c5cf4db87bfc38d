import type { Hold } from '../ownership/hold'
import type { Clock, Moment } from '../runtime/clock'
import type { Renewal } from './renewal'

/** A hold that the watchdog renews; stands in one stage at a time. */
export class Watched {
  stage: Stage | undefined
  /** Since when it stands there. */
  since!: Moment
  /** Its renewal fails, and that was told. */
  failing = false
  before: Watched | undefined
  behind: Watched | undefined

  constructor(
    readonly hold: Hold,
    readonly renewal: Renewal,
  ) {}
}

/**
 * A queue in which each waits for the same time, so that the first is the next. Linked rather than a Map, for
 * taking thousands off the head of a Map makes each look at the head pass what they left behind.
 */
export class Stage {
  private first: Watched | undefined
  private last: Watched | undefined
  private hurriedAt = Number.NEGATIVE_INFINITY
  /** Where one was last put that was late. */
  private late: Watched | undefined

  constructor(
    private readonly clock: Clock,
    /** How long each stands here, in ms. */
    private readonly wait: number,
  ) {}

  /**
   * Puts it in order of time, out of the stage it stood in. That is the end as a rule; what was answered late
   * goes before those that were answered sooner, or its turn would come late as well.
   */
  enter(watched: Watched, since: Moment): void {
    watched.stage?.leave(watched)
    watched.stage = this
    watched.since = since
    const before = this.lastNotAfter(since.monotonic)
    const behind = before ? before.behind : this.first
    watched.before = before
    watched.behind = behind
    if (before) before.behind = watched
    else this.first = watched
    if (behind) behind.before = watched
    else this.last = watched
    if (behind) this.late = watched
  }

  // A node of a cluster that stalled answers for thousands at once, all late: each is looked for from where the one
  // before it went, rather than past all that other nodes answered in the meantime.
  private lastNotAfter(time: number): Watched | undefined {
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

  leave(watched: Watched): void {
    const { before, behind } = watched
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    if (this.late === watched) this.late = before
    watched.stage = watched.before = watched.behind = undefined
  }

  /** The time here is over for all who stand here since before now, or come back to it. */
  hurry(): void {
    this.hurriedAt = this.clock.now().monotonic
  }

  *inOrder(): Iterable<Watched> {
    for (let watched = this.first; watched; watched = watched.behind) yield watched
  }

  /** Milliseconds until the time of the first is over, by whichever clock advanced further. */
  firstRemaining(): number {
    if (!this.first) return Number.POSITIVE_INFINITY
    const { since } = this.first
    return since.monotonic <= this.hurriedAt ? 0 : this.wait - this.clock.elapsedSince(since)
  }

  /** The first, if its time here is over, or will be within `ahead` ms. */
  due(ahead = 0): Watched | undefined {
    return this.firstRemaining() <= ahead ? this.first : undefined
  }
}
