import type { HoldEntry } from '../ownership/hold-table'
import type { LogicalThread } from '../ownership/logical-thread'
import type { OwnedHold } from '../ownership/owned-hold'
import { isLive, type MembersLevel, watchMembers } from './members-level'

/** What one caller holds over the same members: a level for each acquisition. */
export class MembersHold implements OwnedHold<MembersLevel> {
  readonly levels = new Set<MembersLevel>()
  hasFailedBeside = false

  constructor(
    readonly objectId: string,
    readonly entry: HoldEntry<MembersHold> | undefined,
  ) {
    if (entry) entry.hold = this
  }

  add(level: MembersLevel, leaseTime: number | undefined, thread: LogicalThread | undefined): void {
    level.hold = this
    level.thread = thread
    level.leaseTime = leaseTime
    this.levels.add(level)
    // Its end must be noticed although no caller asks.
    if (leaseTime !== undefined && (this.entry || level.bareIn)) watchMembers(level)
  }

  /** One of its levels was lost, or has expired. */
  lost(level: MembersLevel): void {
    if (level.bareIn) {
      this.levels.delete(level)
      level.bareIn.ended(level, level.leaseTime === undefined ? level.loss : undefined)
    }
    if (level.leaseTime === undefined) this.entry?.settle()
    else this.forgetUnlessNeeded()
  }

  get holder(): string {
    return [...this.levels].map(({ threadId }) => `thread id ${threadId}`).join(', ')
  }

  checkLive(): boolean {
    return [...this.levels].some(({ isHeld }) => isHeld)
  }

  /** Throws if a level was lost that its caller, or that of an entry below it, has yet to release. */
  assertNotLost(entry: HoldEntry<MembersHold> | undefined): void {
    this.checkLive()
    const loss = this.entry?.loss ?? entry?.loss
    if (loss) throw loss
    for (const level of this.levels) if (level.leaseTime === undefined && !isLive(level)) throw level.loss
  }

  forgetUnlessNeeded(): void {
    const isNeeded = [...this.levels].some(({ isHeld, leaseTime }) => isHeld || leaseTime === undefined)
    if (!isNeeded && !this.entry?.loss) this.entry?.forget(this)
  }
}
