import type { Clock, Moment } from '../util/clock'

/** More reports than this within WITHIN ms do not come from changes by hand. */
const MOST = 20
const WITHIN = 10_000
const FIRST_PAUSE = 60_000
const LONGEST_PAUSE = 3_600_000

/**
 * Counts false reports: the server reported a key as changed, and its hold was still there. After too many of them, client
 * tracking pauses.
 *
 * A server that tracks more keys than `tracking-table-max-keys` allows drops some, and reports each of them as changed. The
 * renewals of those holds make it track their keys again and drop others, and so on without end.
 */
export class FalseChangeReports {
  private count = 0
  private since: Moment | undefined
  private pause: { readonly since: Moment; readonly lasts: number } | undefined

  constructor(private readonly clock: Clock) {}

  get isPausing(): boolean {
    const { pause } = this
    return pause !== undefined && this.clock.elapsedSince(pause.since) < pause.lasts
  }

  add(count: number): void {
    if (count === 0 || this.isPausing) return
    if (this.since === undefined || this.clock.elapsedSince(this.since) > WITHIN) {
      this.since = this.clock.now()
      this.count = 0
    }
    this.count += count
    if (this.count > MOST) this.begin()
  }

  /**
   * If tracking ran for less time than the last pause lasted, pauses twice as long, up to LONGEST_PAUSE. Otherwise pauses for
   * FIRST_PAUSE.
   */
  private begin() {
    const { pause } = this
    const isRepeated = pause !== undefined && this.clock.elapsedSince(pause.since) < 2 * pause.lasts
    const lasts = isRepeated ? Math.min(2 * pause.lasts, LONGEST_PAUSE) : FIRST_PAUSE
    this.pause = { since: this.clock.now(), lasts }
    this.since = undefined
  }
}
