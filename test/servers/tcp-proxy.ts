import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Address } from './address'
import { giveBackPort, onFreePorts } from './free-ports'
import { type CommandPredicate, type LostReply, ReplyCounter } from './lost-reply'
import { Gate, OneWay } from './one-way'
import { RespFrames } from './resp-frames'

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
  accept(): Promise<void>
  /** Nothing passes in either direction, not even the end of a connection: a silent network. */
  stall(): void
  /** Commands arrive and are executed, but nothing comes back. */
  stallReplies(): void
  /** Ends either stall; what was held back now passes. */
  resume(): void
  /**
   * Forwards the next command that matches (any, without a predicate), and when its reply comes closes the
   * connection instead: executed, but the client cannot know. Earlier replies still arrive. Resolves when
   * it has happened.
   */
  dropNextReply(matches?: CommandPredicate): Promise<void>
  /** Delays everything by so much, in each direction; 0 ends it. */
  delay(ms: number): void
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
  private readonly commandGate = new Gate()
  private readonly replyGate = new Gate()
  private readonly armed: LostReply[] = []
  private delayMs = 0

  constructor(
    private readonly target: Address,
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

  async accept(): Promise<void> {
    if (this.listener) return
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.join(client))
    this.listener = listener
    listener.listen(this.port, this.host)
    await once(listener, 'listening')
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

  delay(ms: number): void {
    this.delayMs = ms
  }

  async stop(): Promise<void> {
    this.refuse()
    this.cut()
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
    )
    this.open.add(connection)
    client.once('close', () => this.open.delete(connection))
  }
}

class ProxiedConnection {
  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    toServer: OneWay,
    toClient: OneWay,
    private readonly counter: ReplyCounter,
  ) {
    const commands = new RespFrames()
    const replies = new RespFrames()
    forward(client, server, toServer, (chunk) => {
      for (const frame of commands.push(chunk)) this.command(frame)
    })
    forward(server, client, toClient, (chunk) => {
      for (const frame of replies.push(chunk)) this.reply(frame)
    })
  }

  destroy(): void {
    this.client.destroy()
    this.server.destroy()
  }

  halfClose(end: 'client' | 'server'): void {
    this[end].end()
  }

  private command(frame: Buffer): void {
    this.counter.onCommand(frame)
    if (!this.server.destroyed && !this.server.writableEnded) this.server.write(frame)
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
function forward(from: Socket, to: Socket, way: OneWay, deliver: (chunk: Buffer) => void): void {
  from.on('data', (chunk: Buffer) => way.send(() => deliver(chunk)))
  from.on('end', () => way.send(() => to.end()))
  from.on('close', () => way.send(() => to.destroySoon()))
  // 'close' follows, and there is nothing more to say than that.
  from.on('error', () => {})
}
