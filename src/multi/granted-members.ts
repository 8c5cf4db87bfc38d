import type { Moment } from '../util/clock'
import type { MemberGroup } from './member'
import { releaseMembers } from './release-members'
import type { Granted } from './try-member'

/** What one round acquired: several holds that count as one. */
export class GrantedMembers {
  /** When its first member was asked for. The lease of that one ends first. */
  readonly granted: Moment

  constructor(
    readonly group: MemberGroup,
    readonly grants: readonly Granted[],
    /** When the round began. A member may have been acquired in a wait before. */
    since: Moment,
    /** How long they count from the first grant, in ms. Each member has its own deadline as well. */
    readonly validFor: number | undefined,
  ) {
    const moments = grants.map(({ hold }) => hold.level?.sent ?? since)
    this.granted = moments.reduce((one, other) => (one.monotonic < other.monotonic ? one : other), since)
  }

  /** Whether their time is not over, and enough members are held. */
  areEnough(): boolean {
    const { group, grants, validFor } = this
    return this.left(validFor) > 0 && grants.filter(({ hold }) => hold.isHeld).length >= group.needed
  }

  /** How much of a time from the first grant is left, in ms. */
  left(ms = Number.POSITIVE_INFINITY): number {
    return ms - this.group.client.clock.elapsedSince(this.granted)
  }

  /** Releases all of them, and reports no errors. */
  release(): Promise<void> {
    return releaseMembers(this.grants, this.group.client.clock)
  }
}
