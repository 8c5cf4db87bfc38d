import type { ScriptExecutor } from '../scripts/executor'
import type { ScriptCall } from '../scripts/script-call'
import { inThisContext } from '../util/async-context'
import type { Clock, Moment, Timer } from '../util/clock'
import { Due } from './due-queue'

/**
 * - `held`: this client holds it, as far as it knows
 * - `lost`: it is gone although the watchdog renewed it, or a client released it by force
 * - `expired`: its explicit lease ended
 * - `released`: its holder released it
 */
export type LeaseState = 'held' | 'lost' | 'expired' | 'released'

/** Why a lease ended without a release: its deadline passed, the server no longer has it, or it was released by force. */
export type LossReason = 'lease' | 'gone' | 'forced'

/** The object that is leased: its names in this client and in Redis. */
export interface Leased {
  /** Which kind of object it is: `lock`, `read`, `write` and so on. */
  readonly kind: string
  /** Identifies it within the client. */
  readonly lockId: string
  /** Its own id, and the ids of the other locks that may be acquired when it is free. */
  readonly lockIds: readonly string[]
  readonly name: string
  readonly key: string
  readonly channel: string
}

/** How the leases of one kind are renewed: many in one call, with an answer for each. */
export interface Renewal {
  /**
   * Answers for each lease when it ends now, by the server's clock in ms; 0: it is gone. With `acknowledged`, a replica must
   * have the renewal before the answer counts.
   */
  renew(
    scripts: ScriptExecutor,
    leases: readonly Lease[],
    duration: number,
    acknowledged: boolean,
  ): ScriptCall<readonly number[]>
}

export function decodeLeaseEnds(raw: unknown): readonly number[] {
  return raw as number[]
}

const MAX_MARGIN = 1_000

/** A grant that expires unless it is renewed. It knows nothing of levels, threads or kinds of locks. */
export abstract class Lease extends Due<Lease> {
  readonly lockId: string
  readonly lockIds: readonly string[]
  readonly kind: string
  readonly lockName: string
  readonly key: string
  readonly channel: string
  state: LeaseState = 'held'
  lossReason: LossReason | undefined
  /** When it ended without a release. */
  ended: Moment | undefined
  /** A process warning about local waiters that may wait for themselves was emitted for it. */
  warnedOfSelfWait = false
  /** When the last command that set the lease was sent. */
  granted: Moment
  /** When the lease ends, by the server's clock in ms, as the server last answered. */
  leaseEnd = 0
  /** Its renewals fail, and the client has reported that. */
  isRenewalFailing = false
  expiryTimer: Timer | undefined
  /** The newest lease that a replica surely has. */
  private replicated: { readonly granted: Moment; readonly lease: number }
  /** Its deadline has moved since it entered the watchdog's queue, so the deadlines behind it may be earlier. */
  isOutOfOrder = false
  /** The longest lease that it ever had. The server may still have it, if a command that shortened it was not answered. */
  longestLease: number
  /** When the last command was sent that may have shortened the lease. */
  shortenedBy: Moment | undefined
  private controller: AbortController | undefined
  private abortController: ((reason: unknown) => void) | undefined
  private reason: unknown

  constructor(
    protected readonly clock: Clock,
    leased: Leased,
    /** The hash field, or the token, that marks the holder in Redis. */
    readonly ownerField: string,
    readonly renewal: Renewal,
    /** When the command that acquired it was sent. */
    readonly acquired: Moment,
    /** The lease that the server last set, in ms. */
    public lease: number,
  ) {
    super()
    this.lockId = leased.lockId
    this.lockIds = leased.lockIds
    this.kind = leased.kind
    this.lockName = leased.name
    this.key = leased.key
    this.channel = leased.channel
    this.longestLease = lease
    this.granted = acquired
    this.replicated = { granted: acquired, lease }
  }

  /** Whether the watchdog renews it. Otherwise it ends with its lease. */
  abstract get needsWatchdog(): boolean
  /** The owner as users may see it. */
  get owner(): string {
    return this.ownerField
  }

  /** For messages: the holder as users know it. */
  abstract get holder(): string
  /** Ends it without a release, and notifies its holder. */
  abstract lose(reason: LossReason): void
  /** Reports that a renewal failed or is overdue. */
  abstract renewalFailed(error: unknown): void

  /**
   * A command was sent that may shorten the lease to `lease`. From now on this client assumes no more than that, whether the
   * command is answered or not, and ignores renewals that were sent before the command.
   */
  mayShorten(sent: Moment, lease: number): void {
    this.shortenedBy = sent
    if (this.remaining(sent, lease) < this.remaining()) this.reset(sent, lease)
    const { replicated } = this
    if (sent.monotonic + lease < replicated.granted.monotonic + replicated.lease)
      this.replicated = { granted: sent, lease }
  }

  /** The server set this lease in answer to a command sent at `sent`. It never gets shorter by this. */
  extend(sent: Moment, lease: number): void {
    if (this.shortenedBy && sent.monotonic < this.shortenedBy.monotonic) return
    if (this.remaining(sent, lease) > this.remaining()) this.reset(sent, lease)
  }

  /** The server set exactly this lease. */
  reset(sent: Moment, lease: number): void {
    if (lease > this.longestLease) this.longestLease = lease
    this.isOutOfOrder = true
    this.granted = sent
    this.lease = lease
  }

  /** A replica has the effect of a command that was sent at `sent`, and of all commands before it. */
  replicatedUpTo(sent: Moment): void {
    const { granted, lease } = this
    if (granted.monotonic <= sent.monotonic) this.replicated = { granted, lease }
  }

  /** Assumes no more than the lease that a replica has; answers whether the deadline is earlier now. */
  countFromReplica(): boolean {
    const { granted, lease } = this.replicated
    if (granted === this.granted && lease === this.lease) return false
    if (this.remaining(granted, lease) >= this.remaining()) return false
    this.reset(granted, lease)
    return true
  }

  /** Milliseconds until its deadline: its lease since the last success, less a margin. Or the same for another lease. */
  remaining(sent: Moment = this.granted, lease: number = this.lease): number {
    return lease - margin(lease) - this.clock.elapsedSince(sent)
  }

  /** How long the server may still keep it, in ms. */
  leaseLeft(): number {
    return this.lease - this.clock.elapsedSince(this.granted)
  }

  get isPastDeadline(): boolean {
    return this.remaining() <= 0
  }

  /** Whether this client still holds it, as far as it knows. Ends it if its deadline has passed. */
  checkLive(): boolean {
    if (this.state === 'held' && this.isPastDeadline) this.lose('lease')
    return this.state === 'held'
  }

  /** No descendant may enter below it any more: it has ended, or its client shuts down. */
  refuseEntry(): void {}

  /** Aborts when it ends without a release. Listeners run in the async context in which `signal` was first read. */
  get signal(): AbortSignal {
    if (!this.controller) {
      const controller = new AbortController()
      this.controller = controller
      if (this.reason !== undefined) controller.abort(this.reason)
      else this.abortController = inThisContext((reason) => controller.abort(reason))
    }
    return this.controller.signal
  }

  /** Ends it without a release. */
  end(state: 'lost' | 'expired', reason: unknown): void {
    this.state = state
    this.ended = this.clock.now()
    this.abortSignal(reason)
  }

  /** Aborts the signal and leaves the lease as it is, so that it can still be released. */
  abortSignal(reason: unknown): void {
    this.reason = reason
    this.abortController?.(reason)
  }
}

/** The difference between lease and deadline, in ms: a tenth of the lease, at most a second. */
export function margin(lease: number): number {
  return Math.min(lease / 10, MAX_MARGIN)
}
