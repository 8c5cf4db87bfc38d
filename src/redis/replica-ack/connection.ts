import { Cluster } from 'ioredis'
import { getOrCreate } from '../../util/get-or-create'
import { reachedAt, servingNodes } from '../connect/cluster-nodes'
import { handshakes } from '../connect/ioredis-internals'
import { openNode } from '../connect/node-connection'
import { classify, isClusterDown } from '../reply/errors'
import type { ConnectedClient } from '../reports/connected-client'
import { OutageReporter } from '../reports/outage-reporter'
import { CommandConnection, type SentScript } from '../send/command-connection'
import type { RedisTarget } from '../target/target'
import { ReplicaAckBatcher, type ReplicaAckOptions, type ReplicaAckReply } from './batcher'

/** What a client learns of the replicas of its servers. */
export type Replication = Pick<ReplicaAckConnection, 'primaryOf' | 'mayLack' | 'askReplicas'>

/**
 * A connection that also sends scripts which a replica must acknowledge: to the primary or, in a cluster, to
 * the node of the key.
 */
export class ReplicaAckConnection extends CommandConnection {
  private readonly senders = new Map<string, ReplicaAckBatcher>()
  private readonly refusals: OutageReporter

  constructor(
    target: RedisTarget,
    protected override readonly client: ConnectedClient,
    private readonly options: ReplicaAckOptions,
  ) {
    super(target, client)
    this.refusals = new OutageReporter(client.clock, client)
    const { redis } = this
    if (redis instanceof Cluster) redis.on('refresh', () => this.closeUnused(redis))
  }

  /** Sends a script, and waits until a replica has the writes, if there are replicas. */
  async sendAcknowledged(call: SentScript, bySource: boolean): Promise<ReplicaAckReply> {
    const { script, keys, args } = call
    const how = bySource ? ['eval', script.source] : ['evalsha', script.sha]
    const command = [...how, keys.length, ...keys, ...args]
    const { redis } = this
    if (!(redis instanceof Cluster)) return await this.sender('').send(command)
    const now = this.client.clock.now()
    const node = this.serverOf(keys[0]!)
    if (node === '') throw new Error("Cluster isn't ready")
    try {
      return await this.sender(node).send(command, now)
    } catch (error) {
      const { message = '' } = error as Error
      if (message.startsWith('ASK '))
        return await this.sender(reachedAt(redis, message.split(' ')[2]!)).send(command, now, true)
      // The caller tries again, and the map of slots should be right by then. Perhaps only this connection
      // sees a dead node.
      if (message.startsWith('MOVED ') || classify(error) === 'connection') redis.refreshSlotsCache()
      else if (isClusterDown(error)) this.readSlotMap()
      throw error
    }
  }

  /**
   * False if `sendAcknowledged` need not be used: the server of this key has had no replica as long as the
   * client has known it, and was asked a moment ago.
   */
  mayHaveReplicas(key: string): boolean {
    // Only commands of the fast path tell that another node answered, which may have replicas.
    return !this.usesFastPath || (this.senders.get(this.serverOf(key))?.mayHaveReplicas ?? true)
  }

  /** Identifies the server that answers for this key now: another one after a failover. */
  primaryOf(key: string): string {
    const { redis } = this
    return redis instanceof Cluster ? this.serverOf(key) : (handshakes.get(redis)?.runId ?? '')
  }

  /** Whether a replica of this server, of `primaryOf`, may lack what it answers. */
  mayLack(server: string): boolean {
    const sender = this.senderOf(server)
    // The two connections may not have reached the same server yet.
    return !sender || sender.mayHaveReplicas || sender.server !== server
  }

  /**
   * Finds out whether the replicas of this server, of `primaryOf`, have its writes, and whether it is still
   * the primary.
   */
  askReplicas(server: string): void {
    // No other event tells a client without commands in flight that a slot has moved.
    if (this.senderOf(server)?.ask() === false) this.readSlotMap()
  }

  private senderOf(server: string): ReplicaAckBatcher | undefined {
    return this.senders.get(this.redis instanceof Cluster ? server : '')
  }

  override probe(): void {
    super.probe()
    for (const sender of this.senders.values()) sender.probe()
  }

  override close(): void {
    for (const sender of this.senders.values()) sender.close()
    super.close()
  }

  /** `server`: as `serverOf` says. */
  private sender(server: string): ReplicaAckBatcher {
    return getOrCreate(this.senders, server, () => {
      const isNode = server !== ''
      const redis = isNode ? openNode(this.target, server) : this.openCompanion()
      // Another node may answer for it from now on. Reports once for each break, and not for each try to
      // reconnect.
      if (isNode) redis.on('ready', () => redis.once('close', () => this.client.newServer()))
      else redis.connect().catch(() => {})
      this.fences.watch(server, redis)
      const idOfServer = isNode ? () => server : () => handshakes.get(redis)?.runId ?? ''
      return new ReplicaAckBatcher(redis, idOfServer, this.client, this.options, this.refusals)
    })
  }

  private closeUnused(cluster: Cluster) {
    const serving = servingNodes(cluster)
    for (const [node, sender] of this.senders) {
      if (serving.has(node)) continue
      sender.close()
      this.senders.delete(node)
    }
  }
}
