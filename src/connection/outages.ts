import type { Clock, Moment } from '../runtime/clock'
import { classify } from './failures'

/** Trouble met again this soon is still the same, whatever succeeded in between: other nodes may be well. */
const QUIET = 5_000

/**
 * Tells of trouble once an outage, however many commands and connections meet it. An outage is over when
 * something has succeeded since, and no trouble was met for a while.
 */
export class Outages {
  private lastMet: Moment | undefined
  private declining = false
  private over = true

  constructor(
    private readonly clock: Clock,
    private readonly tell: (error: Error) => void,
  ) {}

  /** Met trouble; an error without credentials. */
  met(error: Error): void {
    const isNew = this.over && (this.lastMet === undefined || this.clock.elapsedSince(this.lastMet) >= QUIET)
    this.lastMet = this.clock.now()
    this.declining = classify(error) === 'passing'
    this.over = false
    if (isNew) this.tell(error)
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
