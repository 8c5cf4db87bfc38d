import { outsideRequests } from 'rlock/internal'
import type { Sent } from './socket'

/** A command that is sent and not answered. */
export class InFlight implements Sent {
  constructor(
    private readonly queue: Sent[],
    readonly command: string,
    readonly words: readonly string[],
    readonly execute: () => unknown,
    private readonly onAnswer: (value: unknown) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** In the event of its arrival, which is outside of requests. */
  answered(value: unknown): void {
    if (this.leave()) this.onAnswer(value)
  }

  /** An error may come within a request. */
  failed(error: unknown): void {
    this.leave()
    outsideRequests(this.onError, error)
  }

  /** False if it was answered already. */
  private leave(): boolean {
    const { queue } = this
    if (queue[0] === this) queue.shift()
    else {
      const at = queue.indexOf(this)
      if (at < 0) return false
      queue.splice(at, 1)
    }
    return true
  }
}
