import calculateSlot from 'cluster-key-slot'
import { Cluster, type Redis } from 'ioredis'
import { reachedAt, servingNodes } from '../cluster-nodes'
import type { CommandConnection } from '../command-connection'
import { classify } from '../errors'
import { ConnectionFence } from '../fencing/connection-fence'
import { NO_RESENDING, openChecked, openNode } from '../node-connection'
import { connectionOptions } from '../options/connection-options'
import { OutageReporter } from '../outage-reporter'
import { ReplicaAckBatcher, type ReplicaAckOptions, type ReplicaAckReply } from './batcher'

export type { ReplicaAckReply } from './batcher'

/** Sends commands that a replica must acknowledge, to the primary or, in a cluster, to the node of the key. */
export class ReplicaAckConnection {
  private readonly senders = new Map<string, ReplicaAckBatcher>()
  private readonly fences = new Map<string, ConnectionFence>()

  private readonly options: ReplicaAckOptions

  constructor(
    private readonly commands: CommandConnection,
    options: ReplicaAckOptions,
    /** The connection to a cluster node broke. Another node may answer for it from now on. */
    private readonly onNodeGone: () => void,
  ) {
    const outages = new OutageReporter(options.clock, { error: (error) => options.onNoWait(error) })
    this.options = {
      ...options,
      onNoWait: (error) => outages.failed(error),
      onWaited: () => outages.answered(),
    }
    const { redis } = commands
    if (redis instanceof Cluster) redis.on('refresh', () => this.closeUnused(redis))
  }

  async send(key: string, command: readonly (string | number)[]): Promise<ReplicaAckReply> {
    const { redis } = this.commands
    if (!(redis instanceof Cluster)) return await this.sender('', () => this.openPrimary()).send(command)
    const node = redis.slots[calculateSlot(key)]?.[0]
    if (node === undefined) throw new Error("Cluster isn't ready")
    try {
      return await this.nodeSender(redis, node).send(command)
    } catch (error) {
      const { message = '' } = error as Error
      if (message.startsWith('ASK '))
        return await this.nodeSender(redis, message.split(' ')[2]!).send(command, true)
      // The caller tries again, and the map of slots should be right by then. Perhaps only this connection sees a dead node.
      if (message.startsWith('MOVED ') || classify(error) === 'connection') redis.refreshSlotsCache()
      throw error
    }
  }

  /** False if the server of this key has had no replica as long as the client has known it, and was asked a moment ago. */
  mayHaveReplicas(key: string): boolean {
    const { redis, usesFastPath } = this.commands
    // Only commands of the fast path tell that another node answered, which may have replicas.
    if (!usesFastPath) return true
    const node = redis instanceof Cluster ? redis.slots[calculateSlot(key)]?.[0] : ''
    if (node === undefined) return true
    const server = redis instanceof Cluster ? reachedAt(redis, node) : node
    return this.senders.get(server)?.mayHaveReplicas ?? true
  }

  /** Closes connections that went silent. */
  probe(): void {
    for (const sender of this.senders.values()) sender.probe()
  }

  close(): void {
    for (const server of [...this.senders.keys()]) this.drop(server)
  }

  private drop(server: string) {
    this.senders.get(server)?.close()
    this.fences.get(server)?.close()
    this.senders.delete(server)
    this.fences.delete(server)
  }

  private nodeSender(cluster: Cluster, announced: string) {
    const node = reachedAt(cluster, announced)
    return this.sender(node, () => {
      const redis = openNode(this.commands.target, node)
      // Reports once for each break, and not for each try to reconnect.
      redis.on('ready', () => redis.once('close', this.onNodeGone))
      return redis
    })
  }

  /** `server`: as in `CommandConnection.serverOf`. */
  private sender(server: string, open: () => Redis): ReplicaAckBatcher {
    let sender = this.senders.get(server)
    if (!sender) {
      const redis = open()
      const fence = new ConnectionFence(server, this.commands.broken, this.options.clock)
      fence.watch(redis)
      sender = new ReplicaAckBatcher(redis, this.options)
      this.senders.set(server, sender)
      this.fences.set(server, fence)
    }
    return sender
  }

  private openPrimary(): Redis {
    const redis = openChecked(connectionOptions(this.commands.target, NO_RESENDING))
    redis.on('error', (error: unknown) => this.commands.companionFailed(error))
    redis.on('ready', () => this.commands.admitted())
    redis.connect().catch(() => {})
    return redis
  }

  private closeUnused(cluster: Cluster) {
    const serving = servingNodes(cluster)
    for (const node of [...this.senders.keys()]) if (!serving.has(node)) this.drop(node)
  }
}
