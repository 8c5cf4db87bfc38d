import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Address } from './address'
import { giveBackPort, onFreePorts } from './free-ports'
import { KeptBack, type LateCopy, type Withholding } from './late-copy'
import { type CommandPredicate, type LostReply, ReplyCounter } from './lost-reply'
import { Gate, OneWay } from './one-way'
import { RespFrames, wordsOf } from './resp-frames'

/** A network we can break at will, between a client and a real server. */
export interface TcpProxy extends Address {
  readonly url: string
  /** How many clients are connected. */
  readonly connections: number
  /** Closes every present connection, on both sides. */
  cut(): void
  /**
   * Ends each present connection in one direction only, as a peer does that has sent its last byte: the
   * `client` reads the end and the server does not, or the other way about.
   */
  halfClose(end: 'client' | 'server'): void
  /** New connections are refused from now on, as by a host on which nothing listens. */
  refuse(): void
  /** Refuses new connections, and closes every present one. */
  breakOff(): void
  accept(): Promise<void>
  /** Nothing passes in either direction, not even the end of a connection: a silent network. */
  stall(): void
  /** Commands arrive and are executed, but nothing comes back. */
  stallReplies(): void
  /** New connections lead to this server from now on, as after the move of a name; those that are open stay where they are. */
  pointTo(target: Address): void
  /** Ends either stall; what was held back now passes. */
  resume(): void
  /**
   * Forwards the next command that matches (any, without a predicate), and when its reply comes closes the
   * connection instead: executed, but the client cannot know. Earlier replies still arrive. Resolves when
   * it has happened.
   */
  dropNextReply(matches?: CommandPredicate): Promise<void>
  /**
   * Keeps the next command that matches and breaks its connection to the client; that to the server stays open, and on
   * it the command may still arrive. Resolves when it has happened.
   */
  withhold(matches: CommandPredicate): Promise<LateCopy>
  /** Delays everything by so much, in each direction; 0 ends it. */
  delay(ms: number): void
  /**
   * Closes the client's end of each present connection. What the client had sent and a stall held back reaches
   * the server this much later, on the connection that the server still has open; then that is closed as well.
   */
  deliverLate(ms: number): void
  /** Closes the connections that `deliverLate` left open: what they hold is lost. */
  dropLate(): void
  stop(): Promise<void>
}

export function startProxy(target: Address): Promise<TcpProxy> {
  return onFreePorts(1, async ([port]) => {
    const proxy = new ListeningProxy(target, port!)
    await proxy.accept()
    return proxy
  })
}

class ListeningProxy implements TcpProxy {
  readonly host = '127.0.0.1'
  readonly url: string
  private listener: Server | undefined
  private readonly open = new Set<ProxiedConnection>()
  private readonly late = new Set<ProxiedConnection>()
  private readonly commandGate = new Gate()
  private readonly replyGate = new Gate()
  private readonly armed: LostReply[] = []
  private readonly withholding: Withholding[] = []
  private delayMs = 0

  constructor(
    private target: Address,
    readonly port: number,
  ) {
    this.url = `redis://${this.host}:${port}`
  }

  get connections(): number {
    return this.open.size
  }

  cut(): void {
    for (const connection of this.open) connection.destroy()
  }

  halfClose(end: 'client' | 'server'): void {
    for (const connection of this.open) connection.halfClose(end)
  }

  refuse(): void {
    this.listener?.close()
    this.listener = undefined
  }

  breakOff(): void {
    this.refuse()
    this.cut()
  }

  async accept(): Promise<void> {
    if (this.listener) return
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.join(client))
    this.listener = listener
    listener.listen(this.port, this.host)
    await once(listener, 'listening')
  }

  pointTo({ host, port }: Address): void {
    this.target = { host, port }
  }

  stall(): void {
    this.commandGate.shut()
    this.replyGate.shut()
  }

  stallReplies(): void {
    this.replyGate.shut()
  }

  resume(): void {
    this.commandGate.release()
    this.replyGate.release()
  }

  dropNextReply(matches: CommandPredicate = () => true): Promise<void> {
    return new Promise((resolve) => {
      this.armed.push({ matches, happened: resolve })
    })
  }

  withhold(matches: CommandPredicate): Promise<LateCopy> {
    return new Promise((resolve) => {
      this.withholding.push({ matches, happened: resolve })
    })
  }

  delay(ms: number): void {
    this.delayMs = ms
  }

  deliverLate(ms: number): void {
    for (const connection of this.open) {
      this.late.add(connection)
      connection.deliverLate(ms, () => this.late.delete(connection))
    }
  }

  dropLate(): void {
    for (const connection of this.late) connection.destroy()
  }

  async stop(): Promise<void> {
    this.breakOff()
    this.dropLate()
    giveBackPort(this.port)
  }

  private join(client: Socket): void {
    const delay = () => this.delayMs
    const connection = new ProxiedConnection(
      client,
      connect({ ...this.target, allowHalfOpen: true, noDelay: true }),
      new OneWay(this.commandGate, delay),
      new OneWay(this.replyGate, delay),
      new ReplyCounter(this.armed),
      this.withholding,
    )
    this.open.add(connection)
    connection.closed(() => this.open.delete(connection))
  }
}

class ProxiedConnection {
  private kept: KeptBack | undefined

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly toServer: OneWay,
    toClient: OneWay,
    private readonly counter: ReplyCounter,
    private readonly withholding: Withholding[],
  ) {
    const commands = new RespFrames()
    const replies = new RespFrames()
    forward(
      client,
      server,
      this.toServer,
      (chunk) => {
        for (const frame of commands.push(chunk)) this.command(frame)
      },
      () => this.kept === undefined,
    )
    forward(server, client, toClient, (chunk) => {
      for (const frame of replies.push(chunk)) this.reply(frame)
    })
  }

  /** Calls back once it is closed to both sides. */
  closed(callback: () => void): void {
    const look = () => {
      if (this.client.destroyed && (!this.kept || this.server.destroyed)) callback()
    }
    this.client.once('close', look)
    this.server.once('close', look)
  }

  destroy(): void {
    this.client.destroy()
    this.server.destroy()
  }

  halfClose(end: 'client' | 'server'): void {
    this[end].end()
  }

  deliverLate(ms: number, over: () => void): void {
    this.toServer.hold(ms)
    this.server.once('close', over)
    this.client.destroy()
  }

  private command(frame: Buffer): void {
    if (this.withholding.length > 0 && !this.kept) this.withholdIfOrdered(frame)
    if (this.kept) return this.kept.add(frame)
    this.counter.onCommand(frame)
    if (!this.server.destroyed && !this.server.writableEnded) this.server.write(frame)
  }

  private withholdIfOrdered(frame: Buffer): void {
    const words = wordsOf(frame)
    const index = this.withholding.findIndex(({ matches }) => matches(words))
    if (index < 0) return
    const [order] = this.withholding.splice(index, 1)
    this.kept = new KeptBack(words, this.server)
    this.client.destroy()
    order!.happened(this.kept)
  }

  private reply(frame: Buffer): void {
    if (this.client.destroyed || this.client.writableEnded) return
    const lost = this.counter.onReply(frame)
    if (!lost) {
      this.client.write(frame)
      return
    }
    this.server.destroy()
    // Lets the replies before this one arrive first.
    this.client.destroySoon()
    lost.happened()
  }
}

/** Data, the end of the data and the end of the connection, all in order and all held by the same gate. */
function forward(
  from: Socket,
  to: Socket,
  way: OneWay,
  deliver: (chunk: Buffer) => void,
  endsToo = () => true,
): void {
  const end = (how: () => void) => () => way.send(() => endsToo() && how())
  from.on('data', (chunk: Buffer) => way.send(() => deliver(chunk)))
  from.on(
    'end',
    end(() => to.end()),
  )
  from.on(
    'close',
    end(() => to.destroySoon()),
  )
  // 'close' follows, and there is nothing more to say than that.
  from.on('error', () => {})
}
