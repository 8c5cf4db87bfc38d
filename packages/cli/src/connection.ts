import { Cluster, type Redis } from 'ioredis'
import type { RedissonOptions } from 'rlock'
import {
  type ChannelEvents,
  ClusterSubscriber,
  CommandConnection,
  choosePublish,
  connectOrFail,
  loggingIn,
  named,
  OutageReporter,
  openChecked,
  openNode,
  type RedisTarget,
  reachedAt,
  resolveTarget,
  slotOf,
  systemClock,
  withoutSecrets,
} from 'rlock/internal'
import { inSlices } from './names'

/** A longer pipeline would keep the server from others for long, and all answers in memory twice. */
const COMMANDS_AT_ONCE = 1_000

export type Answer = { readonly value: unknown } | { readonly error: Error }

export interface Listening {
  close(): void
  /** Closes once every message has been heard that the server counted this listener for. */
  end(): Promise<void>
}

/** The connection of the inspector. It is named `rlock-cli`, reads, and never changes what it reads. */
export class Connection {
  /** What could not be read, and by which right it could be: each sentence once. */
  readonly unseen = new Set<string>()
  /** Whether the server refused to read a key: what was not found may be there. */
  refusedKeys = false

  private constructor(
    private readonly commands: CommandConnection,
    private readonly target: RedisTarget,
    /** How releases are published here. */
    readonly publish: 'publish' | 'spublish',
  ) {}

  /** Rejects with RedisUnavailableError or RedisRefusedError; no message contains a credential. */
  static async open(options: RedissonOptions): Promise<Connection> {
    const target = named(loggingIn(resolveTarget(options.redis), options.credentials), 'rlock-cli')
    const outages = new OutageReporter(systemClock, { error() {} })
    const commands = new CommandConnection(target, { clock: systemClock, outages, newServer() {} })
    try {
      const asked = await commands.connect()
      const { shardedSubscriptionMode = 'AUTO' } = options
      // Without the right to PUBSUB the mode is not known; a release then says what was chosen.
      const publish = await choosePublish(asked, target, { shardedSubscriptionMode }, systemClock)
      commands.stopResending()
      return new Connection(commands, target, publish)
    } catch (error) {
      commands.close()
      throw error
    }
  }

  get isCluster(): boolean {
    return this.commands.redis instanceof Cluster
  }

  get kind(): RedisTarget['kind'] {
    return this.target.kind
  }

  /** The user of the ACL. */
  get user(): string {
    return this.target.options.username ?? 'default'
  }

  get redis(): Redis | Cluster {
    return this.commands.redis
  }

  /** The primaries: one, or those of the cluster that serve slots. */
  primaries(): Redis[] {
    const { redis } = this.commands
    return redis instanceof Cluster ? redis.nodes('master') : [redis]
  }

  /** The primary of a key or of a sharded channel. */
  primaryOf(key: string): Redis {
    const { redis } = this.commands
    if (!(redis instanceof Cluster)) return redis
    const owner = redis.slots[slotOf(key)]?.[0]
    const address = owner && reachedAt(redis, owner)
    const nodes = redis.nodes('master')
    return nodes.find(({ options: { host, port } }) => `${host}:${port}` === address) ?? nodes[0]!
  }

  /** Reads the map of slots anew. */
  async refresh(): Promise<void> {
    const { redis } = this.commands
    if (redis instanceof Cluster) await new Promise<void>((done) => redis.refreshSlotsCache(() => done()))
  }

  /** Sends the commands, many at once. Each has an answer of its own; a broken connection rejects. */
  async ask(node: Redis, commands: readonly (readonly (string | number | Buffer)[])[]): Promise<Answer[]> {
    const answers: Answer[] = []
    for (const slice of inSlices(commands, COMMANDS_AT_ONCE)) {
      const pipeline = node.pipeline()
      for (const [name, ...args] of slice) pipeline.call(String(name), ...args)
      for (const [error, value] of (await pipeline.exec()) ?? [])
        answers.push(error ? { error: this.safeError(error) } : { value })
    }
    return answers
  }

  /** One command; undefined where the server refuses it. Then `unseen` says what is missing. */
  async tell(node: Redis, missing: string, ...[name, ...args]: string[]): Promise<unknown> {
    try {
      return await node.call(name!, ...args)
    } catch (error) {
      if ((error as Error).name !== 'ReplyError') throw this.safeError(error)
      this.unseen.add(missing)
      return undefined
    }
  }

  /** Calls back for each message on the channels, until `close` is called. In a cluster: of channels that are not sharded. */
  async listen(
    channels: readonly string[],
    heard: (channel: string, text: string) => void,
    node = this.primaries()[0]!,
  ): Promise<Listening> {
    return await this.subscribe(node, 'message', heard, (redis) => redis.subscribe(...channels))
  }

  /**
   * The same for patterns, at one node: keyspace notifications reach the subscribers of their own node only. `refused` has the
   * patterns that the user may not listen to.
   */
  async listenAt(
    node: Redis,
    patterns: readonly string[],
    heard: (channel: string, text: string) => void,
  ): Promise<{ readonly refused: readonly string[]; close(): void }> {
    const listener = (_: string, channel: string, text: string) => heard(channel, text)
    const refused: string[] = []
    const each = async (redis: Redis) => {
      // One by one: the server refuses all that come with a refused one.
      for (const pattern of patterns)
        await redis.psubscribe(pattern).catch((error: Error) => {
          if (!/^NOPERM/.test(error.message)) throw error
          refused.push(pattern)
        })
    }
    const { close } = await this.subscribe(node, 'pmessage', listener, each)
    return { refused, close }
  }

  /** Sharded channels, each at the primary of its slot, also after the slot has moved. Only a cluster has them. */
  shardedChannels(events: ChannelEvents): ClusterSubscriber {
    const { redis } = this.commands
    if (!(redis instanceof Cluster)) throw new Error('only a cluster has sharded channels')
    return new ClusterSubscriber(redis, this.target, true, systemClock, events)
  }

  private async subscribe(
    node: Redis,
    event: 'message' | 'pmessage',
    listener: (...texts: [string, string, string]) => void,
    subscribe: (redis: Redis) => Promise<unknown>,
  ): Promise<Listening> {
    const redis = this.isCluster
      ? openNode(this.target, `${node.options.host}:${node.options.port}`)
      : openChecked(this.target, { protocol: 2, maxRetriesPerRequest: 0 })
    redis.on('error', () => {})
    redis.on(event, listener)
    try {
      if (!this.isCluster) await connectOrFail(redis, this.target, systemClock)
      else if (redis.status !== 'ready')
        await new Promise<void>((ready) => redis.once('ready', () => ready()))
      await subscribe(redis)
    } catch (error) {
      redis.disconnect()
      throw this.safeError(error)
    }
    return {
      close: () => redis.disconnect(),
      async end() {
        await redis.unsubscribe().catch(() => {})
        redis.disconnect()
      },
    }
  }

  /** The error without the credentials of this connection. */
  safeError(error: unknown): Error {
    return withoutSecrets(error, this.target.secrets)
  }

  close(): void {
    this.commands.close()
  }
}
