import type { EventEmitter } from 'node:events'
import type { Answer } from './answer'

/** How long a handler may take after its client has left, in ms. After that the key is free again. */
const LONGEST_AFTER_CLOSE = 60_000

/** The answer of a handler that runs: the framework calls it, and something else sees what it answers. */
export class FirstAnswer {
  readonly answer: Promise<Answer>
  private resolve!: (answer: Answer) => void
  private reject!: (error: unknown) => void
  private isGiven = false

  /** `response`: its connection may close before the handler has answered. */
  constructor(response: EventEmitter) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    response.once('close', () => {
      if (this.isGiven) return
      const gaveUp = new Error('the client has left, and the handler has answered nothing')
      setTimeout(() => this.reject(gaveUp), LONGEST_AFTER_CLOSE).unref()
    })
  }

  give(answer: Answer): void {
    this.isGiven = true
    this.resolve(answer)
  }
}
