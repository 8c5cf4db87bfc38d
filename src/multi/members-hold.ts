import type { LockLostError } from '../api/errors'
import type { HoldEntry } from '../ownership/hold-table'
import type { LogicalThread } from '../ownership/logical-thread'
import type { OwnedHold, OwnedLevel } from '../ownership/owned-hold'
import { processState } from '../ownership/process-state'
import { onAbort } from '../util/abort'
import type { Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import { LazySignal } from '../util/lazy-signal'
import type { GrantedMembers } from './granted-members'
import { lossError, stateOf } from './member-states'
import { releaseAndReport } from './release-members'

/** What one caller holds over the same members: a level for each acquisition. */
export class MembersHold implements OwnedHold {
  /** Those that are held, and those that were lost and that only their LockHold or `withLock` releases. */
  readonly levels = new Set<MembersLevel>()

  constructor(
    readonly objectId: string,
    readonly entry: HoldEntry<MembersLevel> | undefined,
  ) {}

  get holder(): string {
    return [...this.levels].map(({ threadId }) => `thread id ${threadId}`).join(', ')
  }

  checkLive(): boolean {
    return [...this.levels].some((level) => level.checkLive())
  }

  async countLevels(): Promise<number> {
    return this.levels.size
  }

  /** The loss of a level that its caller has yet to release. */
  checkLoss(): unknown {
    const lost = [...this.levels].find((level) => !level.checkLive() && level.leaseTime === undefined)
    return lost?.loss ?? this.entry?.bare.loss
  }

  /** The level was released, or has ended and nothing refers to it any more. */
  drop(level: MembersLevel): void {
    this.levels.delete(level)
    const { entry } = this
    if (this.levels.size > 0 || entry?.bare.loss) entry?.somethingEnded()
    else entry?.forget(this)
  }
}

/** One acquisition within a hold. It is held until it is lost or released. */
export class MembersLevel implements OwnedLevel {
  /** An expired lease is a loss, too. After a loss, its members have been released. */
  private state: 'held' | 'lost' | 'released' = 'held'
  loss: LockLostError | undefined
  /** The release of its members, since it was lost. */
  private releasing: Promise<void> | undefined
  readonly threadId = processState.nextThreadId++
  private readonly lossSignal = new LazySignal()
  /** Undefined until it notices a loss by itself. */
  private stopWatching: (() => void)[] | undefined

  constructor(
    readonly hold: MembersHold,
    readonly members: GrantedMembers,
    /** In ms. Undefined: until its release, because the watchdogs renew its members. */
    readonly leaseTime: number | undefined,
    readonly thread: LogicalThread | undefined,
    public bareIn: OwnedLevel['bareIn'],
  ) {
    hold.levels.add(this)
  }

  get sent(): Moment {
    return this.members.granted
  }

  checkLive(): boolean {
    if (!this.members.areEnough()) this.lose()
    return this.state === 'held'
  }

  get timeLeft(): number {
    return this.members.left(this.leaseTime)
  }

  get signal(): AbortSignal {
    return this.lossSignal.signal
  }

  /** Notices a loss by itself from now on. */
  watch(): void {
    if (this.stopWatching) return
    const { grants, validFor, group } = this.members
    const watchOne = (signal: AbortSignal) => onAbort(signal, () => this.memberEnded(signal.reason))
    this.stopWatching = grants.map(({ hold }) => watchOne(hold.signal))
    if (validFor !== undefined) {
      const timer = group.client.clock.after(this.members.left(validFor), () => this.checkLive())
      this.stopWatching.push(() => timer.cancel())
    }
    const ended = grants.find(({ hold }) => hold.signal.aborted)
    if (ended) this.memberEnded(ended.hold.signal.reason)
  }

  /** Releases all members, and then reports. Those of a level that was lost are being released already. */
  async release(): Promise<void> {
    const wasHeld = this.checkLive()
    if (wasHeld) this.end('released')
    this.hold.drop(this)
    if (wasHeld) return await releaseAndReport(this.members, this.threadId)
    await this.releasing
    throw this.loss
  }

  private memberEnded(reason: unknown) {
    const { grants, group } = this.members
    const left = grants.filter(({ hold }) => hold.isHeld && !hold.signal.aborted)
    if (left.length >= group.needed) return
    // Its members stay held after a shutdown, so that they can still be released.
    if (codeOf(reason) === 'REDISSON_SHUTDOWN') this.lossSignal.abort(reason)
    else this.lose()
  }

  private lose() {
    if (this.state !== 'held') return
    this.end('lost')
    const { members, hold, bareIn, leaseTime } = this
    const { group, grants } = members
    const reasons = grants.map(({ hold }) => hold.signal.reason)
    const states = grants.map(({ member, hold }, index) =>
      stateOf(member, hold.isHeld ? 'held' : 'lost', reasons[index]),
    )
    this.loss = lossError(group, this.threadId, states, reasons)
    this.releasing = members.release()
    bareIn?.ended(this, leaseTime === undefined ? this.loss : undefined)
    if (bareIn || leaseTime !== undefined) hold.drop(this)
    this.lossSignal.abort(this.loss)
  }

  private end(state: 'lost' | 'released') {
    this.state = state
    for (const stop of this.stopWatching ?? []) stop()
    this.stopWatching = []
  }
}
