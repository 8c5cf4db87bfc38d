import { outsideRequests, randomHex, setImmediate } from 'rlock/internal'
import { Engine } from './engine'
import type { ServerClock } from './server-clock'

/** The connection of a client, as the server knows it. */
export interface Peer {
  /** The channels that it is subscribed to, and what takes their messages; with a character for each byte. */
  readonly subscribed: ReadonlyMap<string, (message: string) => void>
  answered(request: Request): void
  reconnected(): void
  cut(): void
}

/** A command on its way to the server, or its reply on the way back. */
export interface Request {
  readonly link: Peer
  readonly isScript: boolean
  /** Whether its connection broke. */
  isOver: boolean
  execute(): unknown
  answered(value: unknown): void
  failed(error: unknown): void
}

/** How many ticks without a command the server waits, because code of a test may need some ticks after a reply. */
const TICKS_TO_SETTLE = 10
const MOST_TICKS = 10_000

/** The in-memory server. It executes commands in one tick, in order, and answers them in the next. */
export class InMemoryServer {
  /** The run id, as of a real server. By it multi locks recognise that two clients have one server. */
  readonly runId = randomHex(16)
  readonly links = new Set<Peer>()
  readonly engine: Engine
  /** Sees each command before it runs, also those in scripts: what MONITOR shows of a real server. */
  onCommand: ((name: string, words: readonly string[]) => void) | undefined
  private incoming: Request[] = []
  private outgoing: (() => void)[] = []
  private isScheduled = false
  isPaused = false
  private whenResumed: (() => void)[] = []
  private losesNextReply = false

  constructor(clock: ServerClock) {
    const { links } = this
    this.engine = new Engine({
      get time() {
        return clock.time
      },
      *subscriptions() {
        for (const { subscribed } of links) yield subscribed
      },
      publish: (channel, message) => this.publish(channel, message),
      beforeCommand: (name, words) => this.onCommand?.(name, words),
    })
  }

  submit(request: Request): void {
    this.incoming.push(request)
    this.schedule()
  }

  reconnect(link: Peer): void {
    this.outgoing.push(() => link.reconnected())
    this.schedule()
  }

  loseNextReply(): void {
    this.losesNextReply = true
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    for (const resumed of this.whenResumed.splice(0)) resumed()
    this.schedule()
  }

  async resumed(): Promise<void> {
    if (this.isPaused) await new Promise<void>((resolve) => this.whenResumed.push(resolve))
  }

  /** Resolves when no command has been in flight for some ticks of the event loop. A paused server counts as idle. */
  async settled(): Promise<void> {
    for (let [quiet, ticks] = [0, 0]; quiet < TICKS_TO_SETTLE && ticks < MOST_TICKS; ticks++) {
      await new Promise<void>((resolve) => setImmediate(() => resolve()))
      const isQuiet = this.isPaused || (this.incoming.length === 0 && this.outgoing.length === 0)
      quiet = isQuiet ? quiet + 1 : 0
    }
  }

  private publish(channel: string, message: string): number {
    const listeners = [...this.links].filter(({ subscribed }) => subscribed.has(channel))
    for (const link of listeners) this.outgoing.push(() => link.subscribed.get(channel)?.(message))
    if (listeners.length > 0) this.schedule()
    return listeners.length
  }

  private schedule() {
    if (this.isScheduled || this.isPaused) return
    this.isScheduled = true
    outsideRequests(setImmediate, () => {
      this.isScheduled = false
      if (!this.isPaused) this.tick()
    })
  }

  private tick() {
    const [outgoing, incoming] = [this.outgoing, this.incoming]
    this.outgoing = []
    this.incoming = []
    // Executed first, so that their answers come in a later tick.
    for (const request of incoming) if (!request.isOver) this.execute(request)
    for (const deliver of outgoing) deliver()
    if (this.outgoing.length > 0 || this.incoming.length > 0) this.schedule()
  }

  private execute(request: Request) {
    const reply = this.replyTo(request)
    if (request.isScript && this.losesNextReply) {
      this.losesNextReply = false
      return request.link.cut()
    }
    this.outgoing.push(() => {
      if (request.isOver) return
      request.link.answered(request)
      reply()
    })
  }

  private replyTo(request: Request): () => void {
    try {
      const value = request.execute()
      return () => request.answered(value)
    } catch (error) {
      return () => request.failed(error)
    }
  }
}
