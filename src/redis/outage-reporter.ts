import type { Clock, Moment } from '../util/clock'
import { classify } from './errors'

/** An error within this time of the last one belongs to the same outage, in ms: commands to other nodes may succeed. */
const QUIET = 5_000

/**
 * Reports an outage once, however many commands and connections fail. An outage is over when a command has succeeded since,
 * and there was no error for QUIET ms.
 */
export class OutageReporter {
  private lastFailure: Moment | undefined
  private declining = false
  /** The server has refused a connection in this outage. */
  private refusing = false
  private over = true

  constructor(
    private readonly clock: Clock,
    private readonly report: (error: Error) => void,
  ) {}

  /** Takes an error, which must contain no credentials. `refused`: the server refused a connection. */
  failed(error: Error, refused = false): void {
    const isNew =
      this.over && (this.lastFailure === undefined || this.clock.elapsedSince(this.lastFailure) >= QUIET)
    this.lastFailure = this.clock.now()
    this.declining = classify(error) === 'transient'
    this.over = false
    if (isNew) this.refusing = false
    // The server was away and is back, but refuses the client. This is another error, and a retry does not cure it.
    const isWorse = refused && !this.refusing
    this.refusing ||= refused
    if (isNew || isWorse) this.report(error)
  }

  /** A command was answered. */
  answered(): void {
    this.over = true
  }

  /** A connection works again. That does not end an outage in which the server declines commands. */
  connected(): void {
    if (!this.declining) this.over = true
  }
}
