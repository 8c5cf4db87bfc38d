import { BrokenConnections, clearTimeout, setTimeout } from 'rlock/internal'
import type { InMemoryServer, Peer, Request } from './server'

/** How long the process stays alive after the last command of a client, in ms: longer than any pause before a retry. */
const STAYS_ALIVE = 2_000

/** The events of a link. */
export interface LinkEvents {
  /** Connected again. */
  ready(): void
  broken(): void
}

/** The connection of one client to an in-memory server, for its scripts and its channels. */
export class Link implements Peer {
  state: 'ready' | 'away' = 'ready'
  readonly broken = new BrokenConnections()
  readonly subscribed = new Map<string, (message: string) => void>()
  private readonly inFlight = new Set<Request>()
  private closed = false
  // A caller that waits keeps the process alive, as with a socket. A client that was not shut down does not.
  private readonly keepsAlive = setTimeout(() => {
    if (this.subscribed.size > 0 || this.inFlight.size > 0) this.keepsAlive.refresh()
  }, STAYS_ALIVE)

  constructor(
    readonly server: InMemoryServer,
    private readonly events: LinkEvents,
  ) {
    server.links.add(this)
  }

  /** Sends a command; calls back in a later tick. `isScript`: its reply can be lost on request. */
  send(
    execute: () => unknown,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
    isScript = false,
  ): void {
    const request: Request = { link: this, isScript, isOver: false, execute, answered, failed }
    if (this.closed) return
    this.keepsAlive.refresh()
    if (this.state === 'away') this.fail(request)
    else {
      this.inFlight.add(request)
      this.server.submit(request)
    }
  }

  answered(request: Request): void {
    this.inFlight.delete(request)
  }

  /** Breaks the connection: commands in flight get no reply. It reconnects in a later tick. */
  cut(): void {
    if (this.state === 'away') return
    this.state = 'away'
    this.subscribed.clear()
    // The server is in this process: it never executes a command that it has not executed by now.
    this.broken.add('').settle()
    for (const request of this.inFlight) this.fail(request)
    this.inFlight.clear()
    this.events.broken()
    this.server.reconnect(this)
  }

  reconnected(): void {
    if (this.closed) return
    this.state = 'ready'
    this.events.ready()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.keepsAlive)
    this.server.links.delete(this)
    for (const request of this.inFlight) request.isOver = true
  }

  private fail(request: Request) {
    request.isOver = true
    request.failed(new Error('Connection is closed.'))
  }
}
