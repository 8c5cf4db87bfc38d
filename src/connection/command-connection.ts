import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../runtime/clock'
import { readyNode } from './cluster-nodes'
import { classify, withoutSecrets } from './failures'
import { connectOrFail, inTime, refuseWrongMode, unavailable } from './first-contact'
import type { Outages } from './outages'
import { quickCommandsWork, sendScript } from './quick-command'
import type { RedisTarget } from './redis-target'
import { reopenUnless } from './reopening'

/** A connection that does not answer a PING for this long has gone silent and is cut. */
const PING_TIMEOUT = 3_000

/** What every connection of ours has in common, whatever the caller's own ioredis options say. */
const OWN_OPTIONS = {
  lazyConnect: true,
  replyMapping: 'legacy',
  role: 'master',
  enableAutoPipelining: false,
  // ioredis resends what a broken connection left unanswered; how long a call waits for that is decided above.
  maxRetriesPerRequest: null,
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  disconnectTimeout: 500,
  // How long loading will take is the server's guess, and that may be off by any amount.
  maxLoadingRetryTime: 250,
  retryStrategy: (times: number) =>
    Math.min(50 * 2 ** Math.min(times, 10), 1_000) * (0.75 + Math.random() / 2),
  // A primary that became a replica: connect anew, to where the name or the sentinels point now. Servers
  // before 7.0 wrap what a script met: "ERR Error running script (…): -READONLY …".
  reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message),
} as const satisfies RedisOptions

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'> & { replyMapping: 'legacy' }

/** What asking the sentinels has beside. */
const SENTINEL_OPTIONS = {
  failoverDetector: true,
  // A sentinel that hangs must not keep us from asking the next one.
  sentinelCommandTimeout: 2_000,
} as const satisfies RedisOptions

/** Options for a connection of its own to the target (or to one node of it). */
export function connectionOptions(target: RedisTarget, override: RedisOptions = {}): ConnectionOptions {
  const given = target.kind === 'cluster' ? (target.options.redisOptions ?? {}) : target.options
  return {
    ...OWN_OPTIONS,
    ...(target.kind === 'sentinel' ? SENTINEL_OPTIONS : {}),
    ...given,
    ...override,
    replyMapping: 'legacy',
  }
}

/** The connection on which scripts run: one to a standalone server or a Sentinel primary, one a node in a cluster. */
export class CommandConnection {
  /** How many times a connection broke; a change between request and reply means the reply may be a second one. */
  breaks = 0
  readonly redis: Redis | Cluster
  private closed = false
  private quick = false
  private findingOut = false

  constructor(
    readonly target: RedisTarget,
    private readonly clock: Clock,
    private readonly outages: Outages,
    /** Who answers from now on may know other things than who answered before. */
    private readonly onNewServer: () => void,
  ) {
    this.redis = target.kind === 'cluster' ? this.openCluster() : this.openSingle()
  }

  private openSingle(): Redis {
    const redis = new Redis(connectionOptions(this.target))
    redis.on('error', (error: unknown) => this.failed(error))
    redis.on('ready', () => this.outages.connected())
    redis.on('close', () => this.breaks++)
    redis.on('ready', () => this.onNewServer())
    redis.once('ready', () => reopenUnless(() => this.closed, redis, this.clock))
    return redis
  }

  private openCluster(): Cluster {
    if (this.target.kind !== 'cluster') throw new TypeError('not a cluster')
    const cluster = new Cluster(this.target.nodes, {
      ...this.target.options,
      lazyConnect: true,
      scaleReads: 'master',
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      redisOptions: this.ownClusterNodeOptions(),
    })
    cluster.on('error', (error: unknown) => this.failed(error))
    cluster.on('node error', (error: unknown) => {
      this.breaks++
      if (classify(error) !== 'connection') this.failed(error)
    })
    cluster.on('+node', (node: Redis) => {
      node.on('close', () => this.breaks++)
      node.on('ready', () => this.findOutInCluster(cluster))
      ignoreUnheardAsking(node)
    })
    // Another node connects only once it is asked something.
    cluster.on('-node', () => this.onNewServer())
    return cluster
  }

  private failed(error: unknown) {
    this.outages.met(withoutSecrets(error, this.target.secrets))
  }

  private ownClusterNodeOptions() {
    // Reconnecting to a node is the cluster's business: it may have a successor.
    const {
      retryStrategy: _,
      lazyConnect: __,
      role: ___,
      reconnectOnError: ____,
      ...options
    } = connectionOptions(this.target)
    return options
  }

  get state(): 'ready' | 'loading' | 'away' {
    if (this.redis.status === 'ready') return 'ready'
    return this.redis.status === 'connect' ? 'loading' : 'away'
  }

  /**
   * Resolves once the server answers; rejects with RedisUnavailableError within the target's connect timeout,
   * and with TypeError where the address is of another kind of server than the target says.
   */
  async connect(): Promise<void> {
    await connectOrFail(this.redis, this.target, this.clock)
    if (this.target.kind === 'standalone' && this.redis instanceof Redis)
      await refuseWrongMode(this.redis, this.target, this.clock)
    if (this.redis instanceof Redis) this.quick = await this.answersQuickCommands(this.redis)
    else this.findOutInCluster(this.redis)
  }

  private async answersQuickCommands(redis: Redis): Promise<boolean> {
    try {
      return await inTime(quickCommandsWork(redis), this.target, this.clock)
    } catch (error) {
      throw unavailable(error, this.target)
    }
  }

  // Nobody waits for this: where the node hangs that is asked, the others serve, in the ordinary way until one has answered.
  private async findOutInCluster(cluster: Cluster): Promise<void> {
    if (this.quick || this.findingOut) return
    const asked = readyNode(cluster)
    if (!asked) return
    this.findingOut = true
    this.quick = await quickCommandsWork(cluster, asked)
    this.findingOut = false
  }

  /** Sends EVAL or EVALSHA; calls back with what it answers, perhaps in the turn in which that comes. */
  send(
    how: 'eval' | 'evalsha',
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    const { redis } = this
    if (this.quick) sendScript(redis, how, script, keys, args, answered, failed)
    else redis[how](script, keys.length, ...keys, ...args).then(answered, failed)
  }

  /** Finds the connections that went silent without a FIN and cuts them, so that they reconnect and resend. */
  probe(): void {
    const nodes = this.redis instanceof Cluster ? this.redis.nodes('all') : [this.redis]
    for (const node of nodes) cutIfSilent(node, this.clock)
  }

  close(): void {
    this.closed = true
    this.redis.disconnect()
  }
}

/** Redirected by ASK, ioredis sends ASKING and drops the promise: that node being gone would be a rejection that nobody hears. */
function ignoreUnheardAsking(node: Redis): void {
  const { asking } = node
  node.asking = ((...args: Parameters<typeof asking>) => {
    const answer = asking.apply(node, args)
    answer.catch(() => {})
    return answer
  }) as typeof asking
}

/**
 * Sends a PING and cuts the connection when nothing comes back in time. One that has not got through its
 * handshake by then is cut as well: ioredis's connect timeout ends with the TCP connect.
 */
export function cutIfSilent(redis: Redis, clock: Clock): void {
  if (redis.status === 'connect') {
    const { stream } = redis
    clock.after(PING_TIMEOUT, () => {
      if (redis.status === 'connect' && redis.stream === stream) redis.disconnect(true)
    })
    return
  }
  if (redis.status !== 'ready') return
  const timer = clock.after(PING_TIMEOUT, () => redis.disconnect(true))
  // An error is an answer too.
  redis.ping().then(
    () => timer.cancel(),
    () => timer.cancel(),
  )
}
