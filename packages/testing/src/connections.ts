import type {
  ChannelEvents,
  ChannelSource,
  ConnectedClient,
  Connections,
  ScriptTransport,
  SentScript,
} from 'rlock/internal'
import { fromBytes, toBytes, toReply } from './bytes'
import { Link } from './link'
import type { InMemoryServer } from './server'

/** All connections of one client to an in-memory server. */
export function openConnections(server: InMemoryServer, client: ConnectedClient): Connections {
  let channels: Channels | undefined
  const link = new Link(server, {
    ready() {
      client.outages.connected()
      client.newServer()
      channels?.subscribeAll()
    },
    broken: () => channels?.broken(),
  })
  channels = new Channels(link, client.channels)
  return {
    isCluster: false,
    publishCommand: 'publish',
    identity: { address: 'in memory', id: server.runId, db: 0 },
    transport: new InMemoryTransport(link),
    source: channels,
    close: () => link.close(),
  }
}

class InMemoryTransport implements ScriptTransport {
  constructor(private readonly link: Link) {}

  get state() {
    return this.link.state
  }

  get lastBroken() {
    return this.link.broken.last
  }

  serverOf(): string {
    return ''
  }

  send(
    { script: { source, sha }, keys, args }: SentScript,
    bySource: boolean,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    const { engine } = this.link.server
    // The list is copied, so that a later change by the caller has no effect, as with a real connection.
    const [names, words] = [[...keys], args.map(String)]
    const execute = () =>
      bySource ? engine.evaluate(source, names, words) : engine.evaluateBySha(sha, names, words)
    this.link.send(() => toReply(execute()), answered, failed, true)
  }

  /** The connection is given up, as with a server that fell silent. */
  probe(): void {
    if (this.link.server.isPaused) this.link.cut()
  }
}

interface Channel {
  confirmed: boolean
}

class Channels implements ChannelSource {
  private readonly channels = new Map<string, Channel>()

  constructor(
    private readonly link: Link,
    private readonly events: ChannelEvents,
  ) {}

  want(name: string): void {
    if (this.channels.has(name)) return
    this.channels.set(name, { confirmed: false })
    this.subscribe(name)
  }

  drop(name: string): void {
    if (!this.channels.delete(name)) return
    const unsubscribe = () => this.link.subscribed.delete(toBytes(name))
    this.link.send(
      unsubscribe,
      () => {},
      () => {},
    )
  }

  isConfirmed(name: string): boolean {
    return this.channels.get(name)?.confirmed ?? false
  }

  /** The link notices a break on its own. */
  probe(): void {}

  close(): void {
    this.channels.clear()
    this.link.subscribed.clear()
  }

  subscribeAll(): void {
    for (const name of this.channels.keys()) this.subscribe(name)
  }

  broken(): void {
    for (const [name, channel] of this.channels) {
      if (!channel.confirmed) continue
      channel.confirmed = false
      this.events.broken(name)
    }
  }

  private subscribe(name: string) {
    const channel = this.channels.get(name)
    this.link.send(
      () => this.link.subscribed.set(toBytes(name), (message) => this.received(name, fromBytes(message))),
      () => {
        // The channel was dropped since. If it is wanted again, another answer will come.
        if (!channel || this.channels.get(name) !== channel) return
        channel.confirmed = true
        this.events.confirmed(name)
      },
      () => {},
    )
  }

  private received(name: string, message: string) {
    if (this.channels.has(name)) this.events.message(name, message)
  }
}
