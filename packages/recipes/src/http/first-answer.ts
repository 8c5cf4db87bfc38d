import type { ServerResponse } from 'node:http'
import type { Answer } from './answer'

/** How long a handler may take after its client has left, in ms. After that the key is free again. */
const LONGEST_AFTER_CLOSE = 60_000

/** The response ended without an answer that could be stored. Nothing is left to tell its client. */
export class Unanswered extends Error {}

/** The answer of a handler that runs: the framework calls it, and something else sees what it answers. */
export class FirstAnswer {
  readonly answer: Promise<Answer>
  private resolve!: (answer: Answer) => void
  private reject!: (error: unknown) => void
  private isSettled = false

  /** `response`: it may close before the handler has answered. */
  constructor(response: ServerResponse) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    const { destroy } = response
    // The handler or its stream failed. Node itself does not call it when a client leaves.
    response.destroy = (error) => {
      this.fail(new Unanswered('the handler has destroyed the response', { cause: error }))
      return destroy.call(response, error)
    }
    const closed = () => {
      if (this.isSettled) return
      if (response.writableEnded) return this.fail(new Unanswered('the handler has answered by itself'))
      // The handler may go on, and a second one must not run beside it.
      const gaveUp = () =>
        this.fail(new Unanswered('the client has left, and the handler has answered nothing'))
      setTimeout(gaveUp, LONGEST_AFTER_CLOSE).unref()
    }
    if (response.closed) closed()
    else response.once('close', closed)
  }

  give(answer: Answer): void {
    this.isSettled = true
    this.resolve(answer)
  }

  /** There is no answer to store. */
  fail(error: unknown): void {
    this.isSettled = true
    this.reject(error)
  }
}
