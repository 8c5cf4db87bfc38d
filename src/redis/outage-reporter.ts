import type { Clock, Moment } from '../util/clock'
import { classify } from './errors'

/** Trouble met again this soon is still the same, whatever succeeded in between: other nodes may be well. */
const QUIET = 5_000

/**
 * Tells of trouble once an outage, however many commands and connections meet it. An outage is over when
 * something has succeeded since, and no trouble was met for a while.
 */
export class OutageReporter {
  private lastMet: Moment | undefined
  private declining = false
  /** A connection has been refused for good in this outage. */
  private refusing = false
  private over = true

  constructor(
    private readonly clock: Clock,
    private readonly tell: (error: Error) => void,
  ) {}

  /** Met trouble; an error without credentials. `refused`: the server did not let a connection in. */
  met(error: Error, refused = false): void {
    const isNew = this.over && (this.lastMet === undefined || this.clock.elapsedSince(this.lastMet) >= QUIET)
    this.lastMet = this.clock.now()
    this.declining = classify(error) === 'transient'
    this.over = false
    if (isNew) this.refusing = false
    // A server that was away and refuses us when it is back: no longer the same trouble, and the one that stays.
    const isWorse = refused && !this.refusing
    this.refusing ||= refused
    if (isNew || isWorse) this.tell(error)
  }

  /** A command was answered. */
  answered(): void {
    this.over = true
  }

  /** A connection works again, which says nothing where the server itself declined. */
  connected(): void {
    if (!this.declining) this.over = true
  }
}
