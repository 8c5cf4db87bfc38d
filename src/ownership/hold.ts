import type { Clock, Moment, Timer } from '../runtime/clock'
import { outsideThreads } from './logical-thread'
import type { SlotPlace } from './slot-table'

/** One acquisition within a hold; the first makes the hold, each re-entry adds one. */
export interface Level {
  /** Its lease in ms, or none: then the watchdog renews the hold while this level lasts. */
  readonly leaseTime: number | undefined
  /** When the command that acquired it was handed over. */
  readonly granted: Moment
  /** It belongs to a LockHold or a `withLock`, and only those may release it. */
  readonly byToken: boolean
}

/**
 * - `held`: ours, as far as can be known from here
 * - `lost`: gone though the watchdog should have kept it, or taken by force
 * - `expired`: gone because its explicit lease ran out
 * - `released`: its last level was released
 */
export type HoldState = 'held' | 'lost' | 'expired' | 'released'

/** The lock that is held, as far as a hold need know it. */
export interface HoldLock {
  readonly lockId: string
  readonly lockIds: readonly string[]
  readonly name: string
  readonly key: string
  readonly channel: string
}

/** Why a hold ended before it was released. */
export type LossReason = 'lease' | 'gone' | 'forced'

const LARGEST_MARGIN = 1_000

/**
 * What one owner has of one lock: a thread id of its own on the wire, its levels, and the moment up to
 * which the server surely still knows it.
 */
export class Hold {
  readonly lockId: string
  readonly lockIds: readonly string[]
  readonly lockName: string
  readonly key: string
  readonly channel: string
  readonly levels: Level[] = []
  state: HoldState = 'held'
  /** Where its caller finds it again; a caller without a scope keeps it himself. */
  place: SlotPlace | undefined
  /** Local callers that wait behind this hold have been told that they may wait for themselves. */
  warnedOfSelfWait = false
  /** An earlier copy of its acquisition may still arrive, and take the lock after its release. */
  lateCopyPossible = false
  /** Gives back what the server may keep of it beyond the end that is known here. */
  giveBackRest: (() => void) | undefined
  /** What the watchdog notes of it while it renews it. */
  watched: unknown
  /** The timer that tells when its explicit lease has run out. */
  expiry: Timer | undefined
  /** Why it ended without a release. */
  lossReason: LossReason | undefined
  /** When the command of the last success was handed over. */
  granted: Moment
  /** The lease the server last set, in ms. */
  lease: number
  /** The last lease that a replica surely has. */
  private replicated: { readonly granted: Moment; readonly lease: number }
  /** When that ends by the server's own clock, as it last said. */
  leaseEnd = 0
  /** The end that the last partial release had seen: by it a late copy is told from one in time. */
  releasedEnd = 0
  private controller: AbortController | undefined
  private reason: unknown
  private lastTurn: Promise<unknown> | undefined

  constructor(
    private readonly clock: Clock,
    lock: HoldLock,
    readonly threadId: number,
    readonly ownerField: string,
    /** When the command that acquired it was handed over. */
    readonly acquired: Moment,
    lease: number,
  ) {
    this.lockId = lock.lockId
    this.lockIds = lock.lockIds
    this.lockName = lock.name
    this.key = lock.key
    this.channel = lock.channel
    this.granted = acquired
    this.lease = lease
    this.replicated = { granted: acquired, lease }
  }

  /** The server set this lease in answer to a command handed over at `sent`; a lease never shortens this way. */
  extend(sent: Moment, lease: number): void {
    if (lease - margin(lease) - this.clock.elapsedSince(sent) > this.remaining()) this.reset(sent, lease)
  }

  /** The server set exactly this lease. */
  reset(sent: Moment, lease: number): void {
    this.granted = sent
    this.lease = lease
  }

  /** A replica has what was answered to a command handed over at `sent`, and to those before it. */
  replicatedUpTo(sent: Moment): void {
    const { granted, lease } = this
    if (granted.monotonic <= sent.monotonic) this.replicated = { granted, lease }
  }

  /** Counts on no more than a replica has; tells whether that ends it earlier. */
  countFromReplica(): boolean {
    const { granted, lease } = this.replicated
    if (granted === this.granted && lease === this.lease) return false
    if (lease - margin(lease) - this.clock.elapsedSince(granted) >= this.remaining()) return false
    this.reset(granted, lease)
    return true
  }

  /** Milliseconds until the hold counts as gone: its lease since the last success, less a margin. */
  remaining(): number {
    return this.lease - margin(this.lease) - this.clock.elapsedSince(this.granted)
  }

  /** What the server may still grant it, in ms. */
  leaseLeft(): number {
    return this.lease - this.clock.elapsedSince(this.granted)
  }

  get isPastDeadline(): boolean {
    return this.remaining() <= 0
  }

  /** Whether the watchdog is to renew it. */
  get needsWatchdog(): boolean {
    return this.levels.some((level) => level.leaseTime === undefined)
  }

  /** The lease that the key needs for the levels there are. */
  leaseForLevels(watchdogTimeout: number): number {
    return Math.max(...this.levels.map((level) => level.leaseTime ?? watchdogTimeout))
  }

  /**
   * What the levels there are still need of leases that run on. One without a lease needs the watchdog's in
   * full: of a longer lease just released, what is left says nothing about it.
   */
  needOfLevels(watchdogTimeout: number): number {
    return Math.max(
      ...this.levels.map(({ leaseTime, granted }) =>
        leaseTime === undefined ? watchdogTimeout : leaseTime - this.clock.elapsedSince(granted),
      ),
    )
  }

  /** Aborts when the hold ends in any way but by its release. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      if (this.reason !== undefined) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  /** Ends the hold without a release. */
  end(state: 'lost' | 'expired', reason: unknown): void {
    this.state = state
    this.reason = reason
    this.abort(reason)
  }

  /** Aborts the signal and leaves the hold as it is, so that it can still be released. */
  abortSignal(reason: unknown): void {
    this.reason = reason
    this.abort(reason)
  }

  private abort(reason: unknown) {
    // Listeners run in here; they are nobody's nested calls.
    const { controller } = this
    if (controller) outsideThreads(() => controller.abort(reason))
  }

  /** Runs operations on this hold one after the other, whoever asks for them. */
  inTurn<T>(operation: () => Promise<T>): Promise<T> {
    const turn = this.lastTurn ? this.lastTurn.then(operation, operation) : begun(operation)
    this.lastTurn = turn
    return turn
  }
}

/** At once, so that calls take effect in the order in which they are made. */
function begun<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return operation()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** How much earlier than its lease a hold counts as gone, in ms: a tenth of it, at most a second. */
export function margin(lease: number): number {
  return Math.min(lease / 10, LARGEST_MARGIN)
}
