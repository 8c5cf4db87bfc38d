import type { Clock, Moment } from '../util/clock'

/** A command that was sent at `since` made the server keep the lease for `lasts` ms. */
interface Term {
  readonly since: Moment
  readonly lasts: number
}

const MAX_MARGIN = 1_000

/** A lease is asked for in whole ms, so the one that ends at the limit may end so many ms before. */
const ROUNDING = 1

/** The difference between lease and deadline, in ms: a tenth of the lease, at most a second. */
export function margin(lease: number): number {
  return Math.min(lease / 10, MAX_MARGIN)
}

/** How long one lease lasts, as far as its client knows. Only its methods write it. */
export class LeaseBook {
  /** What the server surely keeps. A failover may leave only what a replica surely has. */
  private current: Term
  private replicated: Term
  private longestTerm: number
  /** The `maxHoldTime` from the grant on: no command asks for a lease that ends later. */
  private limit: Term | undefined
  /** When the last command was sent that may have shortened the lease. */
  private shortened: Moment | undefined
  /** When it ends by the server's clock, in ms: as last answered, and as the last partial release saw it. */
  private end = 0
  private endAtRelease = 0

  constructor(
    private readonly clock: Clock,
    /** When the command that acquired the lease was sent. */
    readonly acquired: Moment,
    /** The lease that it asked for, in ms. */
    lasts: number,
    maxHoldTime?: number,
  ) {
    this.current = this.replicated = { since: acquired, lasts }
    this.longestTerm = lasts
    this.limitTo(maxHoldTime)
  }

  /** What the server surely keeps, by the last command that set the lease. */
  get term(): Term {
    return this.current
  }

  /** How long the server surely keeps it from now on, in ms. */
  left({ since, lasts }: Term = this.current): number {
    return lasts - this.clock.elapsedSince(since)
  }

  /** Milliseconds until the deadline: the end of the term, or the limit, less a margin. */
  remaining(now?: Moment): number {
    const remaining = this.remainingOf(this.current, now)
    return this.limit ? Math.min(remaining, this.remainingOf(this.limit, now)) : remaining
  }

  get isPastDeadline(): boolean {
    return this.remaining() <= 0
  }

  /** Why the deadline passes. */
  get deadlineReason(): 'lease' | 'limit' {
    const { limit, current } = this
    return limit && this.remainingOf(limit) <= this.remainingOf(current) + ROUNDING ? 'limit' : 'lease'
  }

  private remainingOf({ since, lasts }: Term, now?: Moment): number {
    const lasting = lasts - margin(lasts)
    if (!now) return lasting - this.clock.elapsedSince(since)
    return lasting - Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
  }

  /** Sets its `maxHoldTime`, in ms from the grant. It is at least as long as the first lease. */
  limitTo(maxHoldTime: number | undefined): void {
    if (maxHoldTime !== undefined) this.limit = { since: this.acquired, lasts: maxHoldTime }
  }

  /** In ms. */
  get maxHoldTime(): number | undefined {
    return this.limit?.lasts
  }

  /** The lease to ask for now, in ms, so that it does not end after the limit. */
  withinLimit(lasts: number): number {
    return this.limit ? Math.min(lasts, Math.max(1, Math.floor(this.left(this.limit)))) : lasts
  }

  /**
   * The lease to ask for in a further level that wants this one, in ms, so that no level ends after the
   * limit. With or without an answer, the server may have it from now on. `adds`: the server adds it to the
   * rest.
   */
  askForLevel(wanted: number, adds: boolean): number {
    const rest = adds && this.limit ? this.left() : 0
    const lease = Math.max(0, Math.floor(this.withinLimit(rest + wanted) - rest))
    this.mayLast(adds ? this.longestTerm + lease : lease)
    return lease
  }

  /** Whether the server keeps it until the limit already, so that no renewal makes it longer. */
  get isAtLimit(): boolean {
    return this.limit !== undefined && this.left(this.limit) <= this.left() + ROUNDING
  }

  private set(since: Moment, lasts: number) {
    this.mayLast(lasts)
    this.current = { since, lasts }
  }

  /**
   * The server set at least this lease, by a command that was sent at `since`, and it ends at `end` by the
   * server's clock, in ms. It never gets shorter by this. `acknowledged`: a replica has it as well.
   */
  renewed(since: Moment, lasts: number, end: number, acknowledged: boolean): void {
    this.end = end
    const isShortened = this.shortened && since.monotonic < this.shortened.monotonic
    if (!isShortened && this.remainingOf({ since, lasts }) > this.remainingOf(this.current))
      this.set(since, lasts)
    if (acknowledged && this.current.since.monotonic <= since.monotonic) this.replicated = this.current
  }

  /** A partial release that was sent at `since` set this lease. It may have a longer one by now. */
  partlyReleased(since: Moment, lasts: number, end: number): void {
    this.end = end
    this.set(since, lasts)
  }

  /**
   * A command was sent that may shorten the lease to `lasts`. From now on this client assumes no more than
   * that, whether it is answered or not, and ignores the answers to renewals that were sent before it.
   */
  mayShorten(since: Moment, lasts: number): void {
    const term = { since, lasts }
    this.shortened = since
    if (this.remainingOf(term) < this.remainingOf(this.current)) this.current = term
    if (this.remainingOf(term) < this.remainingOf(this.replicated)) this.replicated = term
  }

  /** A command was sent after which the server may keep a lease of this length, with or without an answer. */
  mayLast(lasts: number): void {
    this.longestTerm = Math.max(this.longestTerm, lasts)
  }

  /** The longest lease that the server may ever have had, in ms: a shorter one may not have arrived there. */
  get longest(): number {
    return this.longestTerm
  }

  /** A replica may have replaced the server. Answers whether the deadline is earlier now. */
  fallBackToReplica(): boolean {
    const { replicated, current } = this
    if (replicated === current || this.remainingOf(replicated) >= this.remaining()) return false
    this.current = replicated
    return true
  }

  /** The server answered when the lease ends. */
  endsAt(end: number): void {
    this.end = end
  }

  /** A partial release is about to be sent; returns the lease end that it sees. */
  beginRelease(): number {
    this.endAtRelease = this.end
    return this.end
  }

  /** The lease end that the last partial release saw. The server recognises a late copy of it by that. */
  get releasedEnd(): number {
    return this.endAtRelease
  }
}
