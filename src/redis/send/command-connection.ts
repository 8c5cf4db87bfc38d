import calculateSlot from 'cluster-key-slot'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { RedissonError } from '../../api/errors'
import type { Moment } from '../../util/clock'
import { addressOf, completeNatMap, primaries, primaryOf } from '../connect/cluster-nodes'
import { connectOrFail, firstToAnswer, inTime, tlsHint, unavailable } from '../connect/connect'
import { connectionOptions } from '../connect/connection-options'
import { pingOrDisconnect } from '../connect/health-check'
import { handshakes, openSocketsOutsideRequests, prepareNode } from '../connect/ioredis-internals'
import { NO_RESENDING, openChecked } from '../connect/node-connection'
import { reconnectUnless } from '../connect/reconnect'
import { keepOnOneServer } from '../connect/same-server'
import { untilPrimary } from '../connect/until-primary'
import { classify, isClusterDown, isLogin, SelectRefusedError, withoutSecrets } from '../reply/errors'
import type { ConnectedClient } from '../reports/connected-client'
import { addressAndDatabase, type RedisTarget } from '../target/target'
import { type BrokenConnection, Fences } from './fences'
import { type Answered, RawCommand, rawCommandsWork } from './raw-command'

const READ_EVERY = 1_000

/** A script with its arguments. */
export interface SentScript {
  readonly script: { readonly name: string; readonly source: string; readonly sha: string }
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/**
 * The connection on which scripts run: one to a single server or a Sentinel primary, or one to each node of a
 * cluster.
 */
export class CommandConnection {
  readonly redis: Redis | Cluster
  /** Why the server refused the last connection; undefined once a connection is ready. */
  refusal?: Error | undefined
  /** @internal Whether scripts take the fast path. The bench also measures without. */
  usesFastPath = false
  protected readonly fences: Fences
  private closed = false
  /** When the map of slots was last read because of an answer. */
  private mapRead: Moment | undefined

  constructor(
    readonly target: RedisTarget,
    protected readonly client: Pick<ConnectedClient, 'clock' | 'outages' | 'newServer'>,
  ) {
    this.redis = target.kind === 'cluster' ? this.openCluster(target) : this.openSingle()
    this.fences = new Fences(this.redis, client.clock)
  }

  /** The server of a client. Needs no command of its own: the handshake has asked. */
  get identity() {
    const { redis, target } = this
    const { db = 0 } = target.options
    return {
      /** Two clients of one server may have different addresses. */
      address: addressAndDatabase(target),
      db,
      /**
       * Distinguishes the servers of this moment: the run id, or the address if INFO is refused. A server
       * that restarted has another one. For a cluster, the node of its first slot: two clients of one cluster
       * may have different start nodes.
       */
      get id(): string {
        if (redis instanceof Redis) return handshakes.get(redis)?.runId ?? target.description
        return primaryOf(redis, 0) ?? target.description
      },
    }
  }

  private openSingle(): Redis {
    const { client } = this
    const redis = openChecked(this.target)
    redis.on('error', (error: unknown) => this.failed(error))
    redis.on('ready', () => {
      this.refusal = undefined
      client.outages.connected()
      client.newServer()
    })
    redis.once('ready', () => reconnectUnless(() => this.closed, redis, client.clock))
    return redis
  }

  private openCluster(target: Extract<RedisTarget, { kind: 'cluster' }>): Cluster {
    const reconnectOnError = (error: Error) => {
      if (isClusterDown(error)) this.readSlotMap()
      return isLogin(error)
    }
    const cluster = new Cluster(target.nodes, {
      ...target.clusterOptions,
      natMap: completeNatMap(target.nodes, target.clusterOptions),
      lazyConnect: true,
      scaleReads: 'master',
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      // ioredis would ask one node at random and wait for it, and that node may hang. A cluster that is down,
      // or a node that loads, says so to the first call, which tries again.
      enableReadyCheck: false,
      // The Cluster of ioredis reconnects to nodes itself, because a node may have a successor. NOAUTH ends a
      // connection.
      redisOptions: connectionOptions(target, { reconnectOnError }),
    })
    openSocketsOutsideRequests(cluster)
    cluster.on('error', (error: unknown) => this.failed(error))
    cluster.on('ready', () => {
      this.refusal = undefined
    })
    cluster.on('node error', (error: unknown) => {
      if (classify(error) !== 'connection') this.met(error)
    })
    cluster.on('+node', (node: Redis) => prepareNode(node, () => cluster.status === 'ready'))
    // ioredis connects to another node only when it sends a command there.
    cluster.on('-node', () => this.client.newServer())
    return cluster
  }

  /** Makes another connection to the same single server. It is not connected yet. */
  openCompanion(override?: RedisOptions): Redis {
    const companion = openChecked(this.target, { ...NO_RESENDING, ...override })
    companion.on('error', (error: unknown) => {
      // That the server is away is reported by the connection for commands.
      if (error instanceof SelectRefusedError) this.failed(error)
    })
    companion.on('ready', () => {
      this.refusal = undefined
    })
    keepOnOneServer(this.redis as Redis, companion, this.client.clock)
    return companion
  }

  private failed(error: unknown) {
    const { lastNodeError } = error as { lastNodeError?: unknown }
    const reason = lastNodeError ?? error
    const isRefusal = classify(reason) !== 'connection'
    const shown = () =>
      reason instanceof SelectRefusedError ? reason : withoutSecrets(reason, this.target.secrets)
    this.refusal = isRefusal ? shown() : undefined
    this.met(isRefusal ? reason : error)
  }

  private met(error: unknown) {
    const { target } = this
    const refused = classify(error) === 'refused'
    if (refused) return this.client.outages.failed(unavailable(error, target))
    const reason = withoutSecrets(error, target.secrets)
    reason.message += tlsHint(reason.message, target.options.tls !== undefined)
    this.client.outages.failed(reason)
  }

  /**
   * Reads the map of slots, at most once in READ_EVERY ms. A node for which the cluster is down may have left
   * it.
   */
  protected readSlotMap(): void {
    const { redis } = this
    const { clock } = this.client
    if (this.mapRead && clock.elapsedSince(this.mapRead) < READ_EVERY) return
    this.mapRead = clock.now()
    if (redis instanceof Cluster) redis.refreshSlotsCache()
  }

  /** Whether a script can be sent now. `loading`: the server is connected but not ready yet. */
  get state(): 'ready' | 'loading' | 'away' {
    if (this.redis.status === 'ready') return 'ready'
    // A server that is suspended accepts connections as well, and answers nothing.
    const hasAnswered = this.redis instanceof Cluster || this.redis.stream?.bytesRead > 0
    return this.redis.status === 'connect' && hasAnswered ? 'loading' : 'away'
  }

  /**
   * Resolves once the server answers, with the connection to it, or to the first node of a cluster that
   * answers. Rejects with RedisUnavailableError within the target's connect timeout, and with TypeError if
   * the address belongs to another kind of server than the target says.
   */
  async connect(): Promise<Redis> {
    const { redis, target } = this
    const { clock } = this.client
    await connectOrFail(redis, target, clock)
    try {
      if (redis instanceof Redis && !handshakes.has(redis))
        throw new Error('the installed ioredis does not let its handshake be checked')
      const answering = redis instanceof Redis ? redis : await firstToAnswer(redis, target, clock)
      if (target.kind === 'standalone') await untilPrimary(answering, target, clock)
      this.usesFastPath = await inTime(rawCommandsWork(answering), target, clock)
      return answering
    } catch (error) {
      const isFinal = error instanceof TypeError || error instanceof RedissonError
      throw isFinal ? error : unavailable(error, target)
    }
  }

  /**
   * From now on ioredis resends nothing, and rejects unanswered commands as soon as their connection breaks.
   * Such a command may still arrive at the server. The executor sends it again only after a fence has ruled
   * that out (Fences).
   */
  stopResending(): void {
    const { redis } = this
    // After CLUSTERDOWN ioredis would retry by itself, and close its connections while it cannot read the
    // slots.
    if (redis instanceof Cluster)
      Object.assign(redis.options, { retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 })
    else Object.assign(redis.options, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
  }

  /** The last connection that broke, also of other parts of the client. */
  get lastBroken(): BrokenConnection {
    return this.fences.broken.last
  }

  /** The server of this key: the address of a cluster node, or '' for a single server. */
  serverOf(key: string): string {
    return this.redis instanceof Cluster ? (primaryOf(this.redis, calculateSlot(key)) ?? '') : ''
  }

  /**
   * Sends the hash of the script or, with `bySource`, its source. Calls back, perhaps in the tick in which
   * the answer arrives: a promise for each call would cost a third of the CPU of an uncontended cycle.
   */
  send(
    { script, keys, args }: SentScript,
    bySource: boolean,
    answered: Answered,
    failed: (error: unknown) => void,
  ): void {
    const { redis } = this
    const how = bySource ? 'eval' : 'evalsha'
    const text = bySource ? script.source : script.sha
    if (this.usesFastPath) redis.sendCommand(new RawCommand(how, text, keys, args, answered, failed))
    else redis[how](text, keys.length, ...keys, ...args).then((value) => answered(value), failed)
  }

  /** Resolves when the server has answered a PING; in a cluster, each primary. */
  async ping(timeout: number): Promise<void> {
    const { redis, target } = this
    /** The nodes without an answer. One that failed is the first. */
    const silent: Redis[] = []
    const ask = async (node: Redis) => {
      silent.push(node)
      await node.ping().catch((error) => {
        silent.unshift(node)
        throw error
      })
      silent.splice(silent.indexOf(node), 1)
    }
    const nodes = redis instanceof Cluster ? primaries(redis) : Promise.resolve([redis])
    try {
      const answers = nodes.then((all) => Promise.all(all.map(ask)))
      await inTime<unknown>(answers, { ...target, connectTimeout: timeout }, this.client.clock)
    } catch (error) {
      const at = redis instanceof Cluster && silent[0] ? addressOf(silent[0]) : undefined
      throw unavailable(this.refusal ?? error, target, at)
    }
  }

  /** Closes connections that went silent without a FIN, so that they reconnect. */
  probe(): void {
    const nodes = this.redis instanceof Cluster ? this.redis.nodes('all') : [this.redis]
    for (const node of nodes) pingOrDisconnect(node, this.client.clock)
  }

  close(): void {
    this.closed = true
    this.fences.close()
    this.redis.disconnect()
  }
}
