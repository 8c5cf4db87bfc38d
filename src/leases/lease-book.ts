import type { Clock, Moment } from '../util/clock'

/** A command that was sent at `since` made the server keep the lease for `lasts` ms. */
export interface Term {
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

/**
 * How long one lease lasts: what is surely there, what may be there, and what a replica has. Only its methods
 * write it.
 */
export class LeaseBook {
  /** What the server surely keeps. Each change is a new value. */
  private current: Term
  /** The newest term that a replica surely has. */
  private replicated: Term
  /** When the last command was sent that may have shortened the lease. */
  private shortenedBy: Moment | undefined
  /** From the grant on: no command asks for a lease that ends later. */
  private limit: Term | undefined
  private longestTerm: number
  /** When the lease ends, by the server's clock in ms, as the server last answered. */
  private end = 0
  private endAtRelease = 0

  constructor(
    private readonly clock: Clock,
    /** When the command that acquired the lease was sent. */
    readonly acquired: Moment,
    /** The lease that it asked for, in ms. */
    lasts: number,
  ) {
    this.current = this.replicated = { since: acquired, lasts }
    this.longestTerm = lasts
  }

  /** What the server surely keeps, by the last command that set the lease. */
  get term(): Term {
    return this.current
  }

  /**
   * The longest lease that there ever was, in ms. The server may still have it, if a command that shortened
   * it was not answered.
   */
  get longest(): number {
    return this.longestTerm
  }

  /**
   * The lease end that the last partial release saw. By it the server recognises a late copy of that release.
   */
  get releasedEnd(): number {
    return this.endAtRelease
  }

  /** Sets its `maxHoldTime`, in ms from the grant. It is at least as long as the first lease. */
  limitTo(maxHoldTime: number | undefined): void {
    if (maxHoldTime !== undefined) this.limit = { since: this.acquired, lasts: maxHoldTime }
  }

  /** Its `maxHoldTime` in ms. */
  get maxHoldTime(): number | undefined {
    return this.limit?.lasts
  }

  /** The lease to ask for now, in ms: no command asks for one that ends after the limit. */
  withinLimit(lasts: number): number {
    return this.limit ? Math.min(lasts, Math.max(1, Math.floor(this.left(this.limit)))) : lasts
  }

  /** Whether the server keeps it until the limit already, so that no renewal makes it longer. */
  get isAtLimit(): boolean {
    return this.limit !== undefined && this.left(this.limit) <= this.left() + ROUNDING
  }

  /** Milliseconds until the deadline: the term since the last success, or the limit, less a margin. */
  remaining(now?: Moment): number {
    const remaining = this.remainingOf(this.current, now)
    return this.limit ? Math.min(remaining, this.remainingOf(this.limit, now)) : remaining
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

  /** How long the server may still keep it, in ms. */
  left({ since, lasts }: Term = this.current): number {
    return lasts - this.clock.elapsedSince(since)
  }

  get isPastDeadline(): boolean {
    return this.remaining() <= 0
  }

  /** The server answered when the lease ends. */
  endsAt(end: number): void {
    this.end = end
  }

  /** A partial release is about to be sent; returns the lease end that it sees. */
  releasing(): number {
    this.endAtRelease = this.end
    return this.end
  }

  /** A command was sent after which the server may keep a lease of this length, with or without an answer. */
  mayLast(lasts: number): void {
    this.longestTerm = Math.max(this.longestTerm, lasts)
  }

  /**
   * A command was sent that may shorten the lease to `lasts`. From now on this client assumes no more than
   * that, whether the command is answered or not, and ignores renewals that were sent before the command.
   * Returns a function that takes this back, for a command that changed nothing; it does nothing if the lease
   * was set since.
   */
  mayShorten(since: Moment, lasts: number): () => void {
    const { current, replicated, shortenedBy } = this
    const term = { since, lasts }
    this.shortenedBy = since
    if (this.remainingOf(term) < this.remainingOf(current)) this.current = term
    if (since.monotonic + lasts < replicated.since.monotonic + replicated.lasts) this.replicated = term
    return () => {
      if (this.shortenedBy === since) this.shortenedBy = shortenedBy
      if (this.current === term) this.current = current
      if (this.replicated === term) this.replicated = replicated
    }
  }

  /** The server set this lease in answer to a command sent at `since`. It never gets shorter by this. */
  extend(since: Moment, lasts: number): void {
    if (this.shortenedBy && since.monotonic < this.shortenedBy.monotonic) return
    if (this.remainingOf({ since, lasts }) > this.remainingOf(this.current)) this.set(since, lasts)
  }

  /** The server set exactly this lease. */
  set(since: Moment, lasts: number): void {
    this.mayLast(lasts)
    this.current = { since, lasts }
  }

  /** A replica has the effect of a command that was sent at `sent`, and of all commands before it. */
  replicatedUpTo(sent: Moment): void {
    if (this.current.since.monotonic <= sent.monotonic) this.replicated = this.current
  }

  /** Assumes no more than the lease that a replica has; answers whether the deadline is earlier now. */
  countFromReplica(): boolean {
    const { replicated, current } = this
    if (replicated === current || this.remainingOf(replicated) >= this.remaining()) return false
    this.current = replicated
    return true
  }
}
