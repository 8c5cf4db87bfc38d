import { inThisContext } from './async-context'

/** An abort signal that is made when it is first read, because most are never read. */
export class LazySignal {
  private controller: AbortController | undefined
  private abortController: ((reason: unknown) => void) | undefined
  private reason: unknown

  /** Listeners run in the async context in which it was first read. */
  get signal(): AbortSignal {
    if (!this.controller) {
      const controller = new AbortController()
      this.controller = controller
      if (this.reason !== undefined) controller.abort(this.reason)
      else this.abortController = inThisContext((reason) => controller.abort(reason))
    }
    return this.controller.signal
  }

  abort(reason: unknown): void {
    this.reason = reason
    this.abortController?.(reason)
  }
}
