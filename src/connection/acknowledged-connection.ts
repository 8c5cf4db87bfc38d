import calculateSlot from 'cluster-key-slot'
import { Cluster, Redis } from 'ioredis'
import {
  type AcknowledgedAnswer,
  AcknowledgedSender,
  type AcknowledgedSenderOptions,
} from './acknowledged-sender'
import { reachedAt } from './cluster-nodes'
import { type CommandConnection, connectionOptions } from './command-connection'
import { classify } from './failures'
import { NO_RESENDING, openNode } from './node-connection'

export type { AcknowledgedAnswer } from './acknowledged-sender'

/** Sends commands that a replica must acknowledge, to the primary or, in a cluster, to the node of the key. */
export class AcknowledgedConnection {
  private readonly senders = new Map<string, AcknowledgedSender>()

  private readonly options: AcknowledgedSenderOptions

  constructor(
    private readonly commands: CommandConnection,
    options: AcknowledgedSenderOptions,
    /** A node of the cluster broke off: another may answer for it from now on. */
    private readonly onNodeGone: () => void,
  ) {
    let told = false
    const onNoWait = (error: Error) => {
      if (!told) options.onNoWait(error)
      told = true
    }
    this.options = { ...options, onNoWait }
    const { redis } = commands
    if (redis instanceof Cluster) redis.on('refresh', () => this.closeUnused(redis))
  }

  async send(key: string, command: readonly (string | number)[]): Promise<AcknowledgedAnswer> {
    const { redis } = this.commands
    if (!(redis instanceof Cluster))
      return await this.sender('primary', () => this.openPrimary()).send(command)
    const node = redis.slots[calculateSlot(key)]?.[0]
    if (node === undefined) throw new Error("Cluster isn't ready")
    try {
      return await this.nodeSender(redis, node).send(command)
    } catch (error) {
      const { message = '' } = error as Error
      if (message.startsWith('ASK '))
        return await this.nodeSender(redis, message.split(' ')[2]!).send(command, true)
      // The caller tries again; by then the map should be right. Nobody else may notice that a node is dead.
      if (message.startsWith('MOVED ') || classify(error) === 'connection') redis.refreshSlotsCache()
      throw error
    }
  }

  /** Cuts the connections that went silent. */
  probe(): void {
    for (const sender of this.senders.values()) sender.probe()
  }

  close(): void {
    for (const sender of this.senders.values()) sender.close()
    this.senders.clear()
  }

  private nodeSender(cluster: Cluster, announced: string) {
    const node = reachedAt(cluster, announced)
    return this.sender(node, () => {
      const redis = openNode(cluster, this.commands.target, node)
      // Once a break, not once for each try to reconnect.
      redis.on('ready', () => redis.once('close', this.onNodeGone))
      return redis
    })
  }

  private sender(name: string, open: () => Redis): AcknowledgedSender {
    let sender = this.senders.get(name)
    if (!sender) {
      sender = new AcknowledgedSender(open(), this.options)
      this.senders.set(name, sender)
    }
    return sender
  }

  private openPrimary(): Redis {
    const redis = new Redis(connectionOptions(this.commands.target, NO_RESENDING))
    redis.on('error', () => {})
    redis.connect().catch(() => {})
    return redis
  }

  private closeUnused(cluster: Cluster) {
    const announced = new Set(cluster.slots.flatMap((nodes) => nodes?.[0] ?? []))
    const serving = new Set([...announced].map((node) => reachedAt(cluster, node)))
    for (const [node, sender] of this.senders) {
      if (serving.has(node)) continue
      this.senders.delete(node)
      sender.close()
    }
  }
}
