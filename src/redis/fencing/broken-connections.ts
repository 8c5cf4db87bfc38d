/**
 * - `pending`: its commands may still arrive at the server; a new connection is to rule that out
 * - `fenced`: its commands have been executed or never will be
 * - `unfenced`: nothing can tell
 */
export type FenceState = 'pending' | 'fenced' | 'unfenced'

/** One connection that broke. */
export class BrokenConnection {
  /** The one that broke next. */
  next: BrokenConnection | undefined
  private readonly callbacks: (() => void)[] = []

  constructor(
    /** Where it led to: a node of a cluster, or '' where there is but one server. */
    readonly server: string,
    private current: FenceState,
  ) {}

  get state(): FenceState {
    return this.current
  }

  settle(state: 'fenced' | 'unfenced'): void {
    if (this.current !== 'pending') return
    this.current = state
    for (const callback of this.callbacks.splice(0)) callback()
  }

  /** Calls back once it is no longer pending. */
  whenSettled(callback: () => void): void {
    if (this.current === 'pending') this.callbacks.push(callback)
    else callback()
  }
}

/** The connections of a client that broke, in order. A call in flight keeps those that broke under it. */
export class BrokenConnections {
  last = new BrokenConnection('', 'fenced')
  /** How many are pending. */
  pending = 0

  constructor(private readonly onPending: () => void = () => {}) {}

  add(server: string, state: FenceState): BrokenConnection {
    const broken = new BrokenConnection(server, state)
    this.last.next = broken
    this.last = broken
    if (state === 'pending') {
      this.pending++
      broken.whenSettled(() => this.pending--)
      this.onPending()
    }
    return broken
  }
}
