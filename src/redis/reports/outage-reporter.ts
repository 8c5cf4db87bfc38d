import { RedisRefusedError } from '../../api/errors'
import type { Clock, Moment, Timer } from '../../util/clock'
import { classify } from '../reply/errors'

/**
 * An error within this time after an answer belongs to the same outage, in ms: commands to other nodes may
 * succeed.
 */
const QUIET = 5_000

/** What an outage tells of itself. */
export interface OutageEvents {
  /** A trouble that is new in this outage. */
  error(error: Error): void
  began?(error: Error): void
  /** `lasted`: in ms, from the first error to the first answer after the last one. */
  ended?(lasted: number): void
}

/**
 * Reports an outage once, and each further kind of trouble in it once, however many commands and connections
 * fail. An outage is over when a command has succeeded since, and no error came within QUIET ms.
 */
export class OutageReporter {
  /** Set while the outage lasts: when it began. */
  began: Moment | undefined
  private ending: Timer | undefined
  private declining = false
  private readonly troubles = new Set<string>()

  constructor(
    private readonly clock: Clock,
    private readonly events: OutageEvents,
  ) {}

  /** Takes an error, which must contain no credentials. */
  failed(error: Error): void {
    this.declining = classify(error) === 'transient'
    this.ending?.cancel()
    this.ending = undefined
    if (!this.began) {
      this.began = this.clock.now()
      this.troubles.clear()
      this.events.began?.(error)
    }
    const trouble = troubleOf(error)
    if (this.troubles.has(trouble)) return
    this.troubles.add(trouble)
    this.events.error(error)
  }

  /** A command was answered. */
  answered(): void {
    if (!this.began || this.ending) return
    const lasted = Math.round(this.clock.elapsedSince(this.began))
    this.ending = this.clock.after(QUIET, () => {
      this.close()
      this.events.ended?.(lasted)
    })
  }

  /** A connection works again. That does not end an outage in which the server declines commands. */
  connected(): void {
    if (!this.declining) this.answered()
  }

  close(): void {
    this.ending?.cancel()
    this.ending = undefined
    this.began = undefined
  }
}

/**
 * A server that is away, loads or changes its role is one trouble. Each shortage, each refusal and TLS are
 * another one.
 */
function troubleOf(error: Error): string {
  const word = /\b(NOPERM|NOAUTH|WRONGPASS|OOM|MISCONF|NOREPLICAS|TLS failed)\b/.exec(error.message)?.[0]
  return word ?? (error instanceof RedisRefusedError ? 'refused' : 'away')
}
