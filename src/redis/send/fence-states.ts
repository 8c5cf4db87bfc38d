/**
 * - `pending`: its commands may still arrive at the server, until a new connection rules that out
 * - `fenced`: its commands have been executed or never will be
 * - `unfenced`: its commands may still arrive, and the client cannot prevent it
 */
export type FenceState = 'pending' | 'fenced' | 'unfenced'

/** One connection that broke. */
export class BrokenConnection {
  /** The next connection that broke. */
  next: BrokenConnection | undefined
  private readonly callbacks: (() => void)[] = []

  constructor(
    /** Its server: the address of a cluster node, or '' for a single server. */
    readonly server: string,
    public state: FenceState,
  ) {}

  settle(state: 'fenced' | 'unfenced'): void {
    if (this.state !== 'pending') return
    this.state = state
    for (const callback of this.callbacks.splice(0)) callback()
  }

  /** Calls back once the state, which must be `pending`, has changed. */
  whenSettled(callback: () => void): void {
    this.callbacks.push(callback)
  }
}

/**
 * The broken connections of a client, in order. A call in flight keeps those that broke after it was sent on
 * them.
 */
export class BrokenConnections {
  last = new BrokenConnection('', 'fenced')

  add(server: string, state: FenceState): BrokenConnection {
    const broken = new BrokenConnection(server, state)
    this.last.next = broken
    this.last = broken
    return broken
  }
}
