import type { FencedLockHold } from 'rlock'
import { onAbort } from 'rlock/internal'

/** What a leader gets. */
export interface Leadership {
  /** The fencing token: greater than that of each leader before. Give it to the resource, which refuses older ones. */
  readonly term: number
  /** Aborts when the leadership ends: it was lost, resigned, or its candidate or its client ends. */
  readonly signal: AbortSignal
}

/** One leadership of one candidate, and the work that it does meanwhile. */
export class Term implements Leadership {
  readonly term: number
  /** Resolves when it has ended, its work too, and the lock is released. */
  readonly over: Promise<void>
  private readonly ending = new AbortController()
  private readonly work = new Set<Promise<unknown>>()

  constructor(private readonly hold: FencedLockHold) {
    this.term = hold.token
    this.over = this.end()
  }

  get owner(): string {
    return this.hold.owner
  }

  get signal(): AbortSignal {
    // A process that was blocked learns here that its lease is over.
    if (!this.hold.isHeld) this.abort(this.hold.signal.reason)
    return this.ending.signal
  }

  get isLeading(): boolean {
    return this.hold.isHeld && !this.ending.signal.aborted
  }

  /** Ends it; the lock is released when its work has ended. */
  abort(reason: unknown): void {
    this.ending.abort(reason)
  }

  /** Runs work of this leader. */
  async run(work: (leadership: Leadership) => unknown): Promise<void> {
    const running = (async () => await work(this))()
    this.work.add(running)
    try {
      await running
    } finally {
      this.work.delete(running)
    }
  }

  private async end() {
    const { hold, ending } = this
    await new Promise<void>((resolve) => {
      onAbort(ending.signal, resolve)
      onAbort(hold.signal, () => this.abort(hold.signal.reason))
      if (hold.signal.aborted) this.abort(hold.signal.reason)
    })
    await Promise.allSettled(this.work)
    // A release that fails goes on in the background.
    await hold.unlock().catch(() => {})
  }
}
