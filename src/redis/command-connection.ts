import calculateSlot from 'cluster-key-slot'
import { Cluster, Redis } from 'ioredis'
import type { Clock } from '../util/clock'
import { reachedAt } from './cluster-nodes'
import { answeringServer, connectOrFail, inTime, refuseWrongMode, unavailable } from './connect'
import { classify, isLogin, withoutSecrets } from './errors'
import { type Answered, rawCommandsWork, sendRawScript } from './fast-path/raw-command'
import { ClusterFences } from './fencing/cluster-fences'
import { ConnectionFence } from './fencing/connection-fence'
import { BrokenConnections } from './fencing/fence-states'
import { ServerIdentity } from './fencing/server-identity'
import { pingOrDisconnect } from './health-check'
import { openSocketsOutsideRequests, prepareNode, SelectRefusedError, wasChecked } from './ioredis-internals'
import { openChecked } from './node-connection'
import { connectionOptions } from './options/connection-options'
import type { OutageReporter } from './outage-reporter'
import { reconnectUnless } from './reconnect'
import type { RedisTarget } from './target'

/** The connection on which scripts run: one to a single server or a Sentinel primary, or one to each node of a cluster. */
export class CommandConnection {
  readonly redis: Redis | Cluster
  /** Why the server refused the last connection; undefined once a connection is ready. */
  refusal: Error | undefined
  /** The broken connections to these servers, also those of other parts of the client. */
  readonly broken: BrokenConnections
  readonly server: ServerIdentity
  private readonly fences: ClusterFences | ConnectionFence
  private closed = false
  /** @internal For tests: whether scripts take the fast path. */
  usesFastPath = false

  constructor(
    readonly target: RedisTarget,
    private readonly clock: Clock,
    private readonly outages: OutageReporter,
    /** Another server may answer from now on, and it may not have the data of the last one. */
    private readonly onNewServer: () => void,
    /** Whether scripts may take the fast path, if the installed ioredis supports it. */
    private readonly mayUseFastPath = true,
  ) {
    if (target.kind === 'cluster') {
      const cluster = this.openCluster(target)
      this.fences = new ClusterFences(cluster, clock)
      this.broken = this.fences.broken
      this.redis = cluster
    } else {
      const redis = this.openSingle()
      this.broken = new BrokenConnections()
      this.fences = new ConnectionFence('', this.broken, clock)
      this.fences.watch(redis)
      this.redis = redis
    }
    this.server = new ServerIdentity(this.redis, target)
  }

  private openSingle(): Redis {
    const redis = openChecked(connectionOptions(this.target))
    redis.on('error', (error: unknown) => this.failed(error))
    redis.on('ready', () => this.admitted())
    redis.on('ready', () => this.outages.connected())
    redis.on('ready', () => this.onNewServer())
    redis.once('ready', () => reconnectUnless(() => this.closed, redis, this.clock))
    return redis
  }

  private openCluster(target: Extract<RedisTarget, { kind: 'cluster' }>): Cluster {
    const cluster = new Cluster(target.nodes, {
      ...target.clusterOptions,
      lazyConnect: true,
      scaleReads: 'master',
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      // ioredis would ask one node at random and wait for it, and that node may hang. A cluster that is down, or a node that
      // loads, says so to the first call, which tries again.
      enableReadyCheck: false,
      // The Cluster of ioredis reconnects to nodes itself, because a node may have a successor. NOAUTH ends a connection.
      redisOptions: connectionOptions(target, { reconnectOnError: isLogin, enableReadyCheck: false }),
    })
    openSocketsOutsideRequests(cluster)
    cluster.on('error', (error: unknown) => this.failed(error))
    cluster.on('ready', () => this.admitted())
    cluster.on('node error', (error: unknown) => {
      if (classify(error) !== 'connection') this.met(error)
    })
    cluster.on('+node', prepareNode)
    // ioredis connects to another node only when it sends a command there.
    cluster.on('-node', () => this.onNewServer())
    return cluster
  }

  /** Reports that the server refused the database to another connection of the client. */
  companionFailed(error: unknown): void {
    if (error instanceof SelectRefusedError) this.failed(error)
  }

  private failed(error: unknown) {
    const { lastNodeError } = error as { lastNodeError?: unknown }
    const reason = lastNodeError ?? error
    if (reason instanceof SelectRefusedError) this.refusal = reason
    else if (['refused', 'transient'].includes(classify(reason)))
      this.refusal = withoutSecrets(reason, this.target.secrets)
    else this.refusal = undefined
    this.met(this.refusal ? reason : error)
  }

  private met(error: unknown) {
    const { target } = this
    const refused = classify(error) === 'refused'
    this.outages.failed(refused ? unavailable(error, target) : withoutSecrets(error, target.secrets))
  }

  /** The server accepted a connection of the client. */
  admitted(): void {
    this.refusal = undefined
  }

  get state(): 'ready' | 'loading' | 'away' {
    if (this.redis.status === 'ready') return 'ready'
    return this.redis.status === 'connect' ? 'loading' : 'away'
  }

  /**
   * Resolves once the server answers, with the connection to it, or to the first node of a cluster that answers. Rejects with
   * RedisUnavailableError within the target's connect timeout, and with TypeError if the address belongs to another kind of
   * server than the target says.
   */
  async connect(): Promise<Redis> {
    await connectOrFail(this.redis, this.target, this.clock)
    if (this.redis instanceof Redis && !wasChecked(this.redis))
      throw unavailable(new Error('the installed ioredis does not let its handshake be checked'), this.target)
    if (this.target.kind === 'standalone' && this.redis instanceof Redis)
      await refuseWrongMode(this.redis, this.target, this.clock)
    const answering = await answeringServer(this.redis, this.target, this.clock)
    try {
      this.usesFastPath =
        this.mayUseFastPath && (await inTime(rawCommandsWork(answering), this.target, this.clock))
    } catch (error) {
      throw unavailable(error, this.target)
    }
    return answering
  }

  /**
   * From now on ioredis resends nothing, and rejects unanswered commands as soon as their connection breaks. Such a command
   * may still arrive at the server. The executor sends it again only after a fence has ruled that out (ConnectionFence).
   */
  stopResending(): void {
    const { redis } = this
    // After CLUSTERDOWN ioredis would retry by itself, and close its connections while it cannot read the slots.
    if (redis instanceof Cluster)
      Object.assign(redis.options, { retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 })
    else Object.assign(redis.options, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
  }

  /** The server of this key: the address of a cluster node, or '' for a single server. */
  serverOf(key: string): string {
    if (!(this.redis instanceof Cluster)) return ''
    const node = this.redis.slots[calculateSlot(key)]?.[0]
    return node === undefined ? '' : reachedAt(this.redis, node)
  }

  /** Sends EVAL or EVALSHA. Calls back with the answer, perhaps in the tick in which it arrives. */
  send(
    how: 'eval' | 'evalsha',
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    answered: Answered,
    failed: (error: unknown) => void,
  ): void {
    const { redis } = this
    if (this.usesFastPath) sendRawScript(redis, how, script, keys, args, answered, failed)
    else redis[how](script, keys.length, ...keys, ...args).then((value) => answered(value), failed)
  }

  /** Resolves when the server has answered a PING; in a cluster, each primary. */
  async ping(timeout: number): Promise<void> {
    const { redis, target, clock } = this
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
    try {
      if (nodes.length === 0) throw new Error("Cluster isn't ready")
      const answers = Promise.all(nodes.map((node) => node.ping()))
      await inTime(answers, { ...target, connectTimeout: timeout }, clock)
    } catch (error) {
      throw unavailable(this.refusal ?? error, target)
    }
  }

  /** Closes connections that went silent without a FIN, so that they reconnect. */
  probe(): void {
    const nodes = this.redis instanceof Cluster ? this.redis.nodes('all') : [this.redis]
    for (const node of nodes) pingOrDisconnect(node, this.clock)
  }

  close(): void {
    this.closed = true
    this.fences.close()
    this.redis.disconnect()
  }
}
