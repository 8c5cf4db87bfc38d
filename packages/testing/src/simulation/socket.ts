import type { Stream } from './choices'
import type { SimulatedProcess } from './process'

/** A command on its way to the server. */
export interface Sent {
  readonly command: string
  /** The name of its script, its keys and its arguments: for the trace. */
  readonly words: readonly string[]
  execute(): unknown
  answered(value: unknown): void
  failed(error: unknown): void
}

/** The server, as its connections see it. */
export interface Acceptor {
  /** Returns the id of the connection. */
  accept(socket: Socket): number
  arrived(socket: Socket, sent: Sent): void
  left(socket: Socket): void
}

export interface SocketEnds {
  /** The server has closed the connection, or the network broke it, and the client has noticed. */
  closed(): void
}

/** Delays of messages, in ms. The first is the shortest; most are short. */
/** Where a scheduler decides, a message arrives between these. */
const SHORTEST_DELAY = 0.1
const DELAYS = [0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.6, 1, 2, 5]
export const LONGEST_DELAY = 5
/** A delayed copy of a command arrives at most this much later, in ms. */
export const LATEST_COPY = 8_000

/** After this time the operating system of the server closes a silent connection, and later that of the client, in ms. */
const SILENT_FOR = 30_000

/** How a connection breaks. */
export type Break =
  /** What is under way never arrives, in either direction. */
  | 'before'
  /** The server executes what is under way, and the answers are lost. */
  | 'after'
  /** What is under way to the server arrives much later, unless the connection has been killed by then. */
  | 'late'
  /** Neither end notices, and nothing arrives any more. */
  | 'silent'
  /** Neither end notices; the server executes what is under way, also later. */
  | 'half-open'

/** One TCP connection between a process and a server. Each direction keeps its order. */
export class Socket {
  /** The id by which the server knows it. */
  readonly id: number
  /** For the trace. */
  readonly label: string
  readonly subscribed = new Map<string, (message: string) => void>()
  private isOpenAtClient = true
  isOpenAtServer = true
  isSilent = false
  /** When the last message of each direction arrives. */
  private arrivesUp = 0
  private arrivesDown = 0
  /** Added to each delay, in ms. */
  slowness = 0
  /** Added to the delays of what is under way. */
  private lateness = 0
  private loses = false
  private underWay: { arrives: number; sent: Sent }[] = []
  private readonly answers: { arrives: number; take: () => void; said: unknown }[] = []
  private isWaking = false

  constructor(
    readonly server: Acceptor,
    readonly process: SimulatedProcess,
    name: string,
    private readonly delays: Stream,
    private readonly ends: SocketEnds,
  ) {
    this.id = server.accept(this)
    this.label = `${name}#${this.id}`
    process.onKilled(() => this.close())
  }

  send(sent: Sent): void {
    if (!this.isOpenAtClient || this.isSilent) return
    const { world } = this.process
    this.arrivesUp = Math.max(this.arrivesUp, world.time + this.delay())
    this.underWay.push({ arrives: this.arrivesUp, sent })
    if (this.underWay.length === 1) this.wakeServer(this.arrivesUp)
  }

  /** Something for the client: an answer, or a message of a channel. */
  deliver(take: () => void, said?: unknown): void {
    // A server that has ended answers nothing, also not a WAIT that was pending.
    if (this.loses || this.isSilent || !this.isOpenAtServer) return
    this.arrivesDown = Math.max(this.arrivesDown, this.process.world.time + this.delay())
    this.answers.push({ arrives: this.arrivesDown, take, said })
    if (!this.isWaking) this.wakeClient(this.arrivesDown)
  }

  /** What is under way, to the server and to the client. */
  describe(): readonly [up: readonly string[], down: readonly string[]] {
    return [
      this.underWay.map(({ sent }) => sent.words.join(' ')),
      this.answers.map(({ said }) => JSON.stringify(said) ?? ''),
    ]
  }

  break(how: Break): void {
    if (!this.isOpenAtClient) return
    const { world } = this.process
    if (how === 'silent' || how === 'half-open') {
      this.isSilent = true
      this.answers.length = 0
      if (how === 'silent') this.underWay.length = 0
      this.loses = true
      // Each end closes a connection on which its probes are not answered.
      world.in(SILENT_FOR, undefined, () => this.isOpenAtServer && this.closeAtServer())
      world.in(2 * SILENT_FOR, this.process, () => this.closedAtClient())
      return
    }
    if (how === 'before') this.closeAtServer()
    else {
      this.loses = true
      if (this.underWay.length === 0) this.closeAtServer()
      else if (how === 'late') this.lateness = 1 + this.delays.choose(LATEST_COPY)
    }
    world.in(this.delay(), this.process, () => this.closedByNetwork())
  }

  /** The client closes it: the server reads what is under way, and then the end. */
  close(): void {
    if (!this.isOpenAtClient) return
    this.endAtClient()
  }

  /** The server closes it, by CLIENT KILL or with its end. What is under way is lost. */
  closeByServer(): void {
    if (!this.isOpenAtServer) return
    this.closeAtServer()
    this.process.world.in(this.delay(), this.process, () => this.closedByNetwork())
  }

  private closedByNetwork() {
    if (!this.isSilent) this.closedAtClient()
  }

  private closedAtClient() {
    if (!this.isOpenAtClient) return
    this.endAtClient()
    this.ends.closed()
  }

  private endAtClient() {
    this.isOpenAtClient = false
    this.answers.length = 0
    if (this.underWay.length === 0 && !this.isSilent && this.isOpenAtServer)
      this.process.world.in(this.delay(), undefined, () => this.isOpenAtServer && this.closeAtServer())
  }

  private closeAtServer() {
    this.isOpenAtServer = false
    this.underWay.length = 0
    this.server.left(this)
  }

  private delay(): number {
    if (this.process.world.isScheduled) return this.slowness + SHORTEST_DELAY
    return this.slowness + DELAYS[this.delays.choose(DELAYS.length)]!
  }

  /** A scheduler may let a message arrive later, and whatever happens in between is another order. */
  private plan(arrives: number, direction: 'up' | 'down', run: () => void) {
    const { world } = this.process
    const owner = direction === 'up' ? undefined : this.process
    if (!world.isScheduled) return void world.at(arrives, owner, run)
    const earliest = Math.max(arrives, world.time)
    const latest = Math.max(earliest, arrives + LONGEST_DELAY - SHORTEST_DELAY)
    world.between(earliest, latest, owner, this.chains[direction], run)
  }

  private readonly chains = { up: {}, down: {} }

  private wakeServer(arrives: number) {
    this.plan(arrives, 'up', () => {
      if (!this.isOpenAtServer) return
      if (this.lateness > 0) {
        const { lateness } = this
        this.lateness = 0
        for (const each of this.underWay) each.arrives += lateness
        const [first] = this.underWay
        if (first) this.wakeServer(first.arrives)
        return
      }
      const { time, isScheduled } = this.process.world
      while (this.underWay.length > 0 && this.underWay[0]!.arrives <= time) {
        this.server.arrived(this, this.underWay.shift()!.sent)
        if (isScheduled) break
      }
      const [next] = this.underWay
      if (next) this.wakeServer(next.arrives)
      else if (!this.isOpenAtClient) this.closeAtServer()
    })
  }

  private wakeClient(arrives: number) {
    this.isWaking = true
    this.plan(arrives, 'down', () => {
      this.isWaking = false
      const { time, isScheduled } = this.process.world
      // What has arrived together is read together.
      while (this.isOpenAtClient && this.answers.length > 0 && this.answers[0]!.arrives <= time) {
        this.answers.shift()!.take()
        if (isScheduled) break
      }
      const [next] = this.answers
      if (next && this.isOpenAtClient) this.wakeClient(next.arrives)
    })
  }
}
