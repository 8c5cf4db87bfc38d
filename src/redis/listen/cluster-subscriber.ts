import calculateSlot from 'cluster-key-slot'
import type { Cluster } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { getOrCreate } from '../../util/get-or-create'
import { queueMicrotask } from '../../util/timers'
import { addressOf, primaryOf } from '../connect/cluster-nodes'
import { openNode } from '../connect/node-connection'
import { reconnectUnless } from '../connect/reconnect'
import type { ChannelEvents } from '../reports/connected-client'
import type { RedisTarget } from '../target/target'
import { type ChannelSource, SubscriberConnection } from './subscriber'

/** How often the client reads the map of slots while a node with channels is away, in ms. */
const REFRESH_EVERY = 500

/**
 * The channels in a cluster. A sharded channel is on the node of its slot and moves with the slot. A plain
 * channel reaches every node, so one connection to any node carries all of them.
 */
export class ClusterSubscriber implements ChannelSource {
  private readonly nodes = new Map<string, SubscriberConnection>()
  private readonly routes = new Map<string, string>()
  private refresh: Timer | undefined

  constructor(
    private readonly cluster: Cluster,
    private readonly target: RedisTarget,
    private readonly sharded: boolean,
    private readonly clock: Clock,
    private readonly events: ChannelEvents,
  ) {
    cluster.on('refresh', this.reroute)
    cluster.on('-node', this.reroute)
  }

  want(channel: string): void {
    if (this.routes.has(channel)) return
    this.routes.set(channel, '')
    this.route(channel)
  }

  drop(channel: string): void {
    this.connectionOf(channel)?.drop(channel)
    this.routes.delete(channel)
  }

  isConfirmed(channel: string): boolean {
    return this.connectionOf(channel)?.isConfirmed(channel) ?? false
  }

  /**
   * Closes connections that went silent, and looks for nodes that left the cluster. Such a node still answers
   * PING.
   */
  probe(): void {
    this.cluster.refreshSlotsCache()
    for (const connection of this.nodes.values()) connection.probe()
  }

  close(): void {
    this.refresh?.cancel()
    this.cluster.off('refresh', this.reroute)
    this.cluster.off('-node', this.reroute)
    for (const connection of this.nodes.values()) connection.close()
    this.nodes.clear()
    this.routes.clear()
  }

  /** The connection that brings the messages of this channel. */
  connectionOf(channel: string): SubscriberConnection | undefined {
    return this.nodes.get(this.routes.get(channel) ?? '')
  }

  private readonly reroute = () => {
    // ioredis emits the event before it has removed the nodes that left.
    queueMicrotask(() => {
      for (const channel of this.routes.keys()) this.route(channel)
      this.closeUnused()
    })
  }

  private route(channel: string) {
    const from = this.routes.get(channel)
    const to = this.nodeFor(channel)
    if (to === undefined) return this.refreshSoon(REFRESH_EVERY)
    if (from === to) return
    if (from) {
      this.nodes.get(from)?.drop(channel)
      this.events.broken(channel)
    }
    this.routes.set(channel, to)
    this.connectionTo(to).want(channel)
  }

  private nodeFor(channel: string): string | undefined {
    if (this.sharded) return primaryOf(this.cluster, calculateSlot(channel))
    const known = this.cluster.nodes('all').map(addressOf)
    const current = this.nodes.keys().next().value
    if (current !== undefined && known.includes(current)) return current
    return known[0]
  }

  private connectionTo(key: string): SubscriberConnection {
    return getOrCreate(this.nodes, key, () => {
      const redis = openNode(this.target, key)
      redis.on('close', () => this.refreshSoon(REFRESH_EVERY))
      redis.on('moved', () => this.refreshSoon(0))
      const events = { ...this.events, error: (error: unknown, of: string) => this.refused(error, of) }
      const connection = new SubscriberConnection(redis, this.sharded, this.clock, events)
      // Also before its first `ready`, unlike the connection of create(): waiters want it already.
      reconnectUnless(() => this.nodes.get(key) !== connection, redis, this.clock)
      return connection
    })
  }

  private refused(error: unknown, channel: string) {
    if (/^MOVED /.test((error as Error).message)) this.refreshSoon(0)
    else this.events.error(error, channel)
  }

  private closeUnused() {
    const used = new Set(this.routes.values())
    for (const [key, connection] of this.nodes) {
      if (used.has(key)) continue
      connection.close()
      this.nodes.delete(key)
    }
  }

  private refreshSoon(delay: number) {
    if (this.routes.size === 0) return
    this.refresh ??= this.clock.after(delay, () => {
      this.refresh = undefined
      this.cluster.refreshSlotsCache(() => {
        this.reroute()
        const unconfirmed = [...this.routes.keys()].some((channel) => !this.isConfirmed(channel))
        if (unconfirmed) this.refreshSoon(REFRESH_EVERY)
      })
    })
  }
}
