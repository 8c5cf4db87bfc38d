import { Cluster, type Redis } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { addressOf, servingNodes } from '../cluster-nodes'
import { ConnectionFence } from './connection-fence'
import { BrokenConnections } from './fence-states'

/** How often the client reads the map of slots while the fence of a broken connection is pending, in ms. */
const REFRESH_EVERY = 500

/**
 * The fences of a client's connections, one for each server. In a cluster, ioredis connects to a node only when it sends a command
 * there, and the commands wait for the fence. So this class reads the map of slots again and connects to the node, until the node
 * has answered or serves no slot any more.
 */
export class Fences {
  readonly broken = new BrokenConnections(() => this.readSlotMap(0))
  private readonly fences = new Map<string, ConnectionFence>()
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly clock: Clock,
  ) {
    if (redis instanceof Cluster) {
      redis.on('+node', (node: Redis) => {
        if (this.watch(addressOf(node), node).isPending) node.connect().catch(() => {})
      })
      redis.on('refresh', () => this.giveUpUnused(redis))
    } else this.watch('', redis)
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    for (const fence of this.fences.values()) fence.close()
  }

  /** Fences a connection to this server: the address of a cluster node, or '' for a single server. */
  watch(server: string, redis: Redis): ConnectionFence {
    const fence = this.fences.get(server) ?? new ConnectionFence(server, this.broken, this.clock)
    this.fences.set(server, fence)
    fence.watch(redis)
    return fence
  }

  private readSlotMap(delay: number) {
    const { redis } = this
    if (this.closed || !(redis instanceof Cluster)) return
    this.timer ??= this.clock.after(delay, () => {
      this.timer = undefined
      if (this.broken.pending === 0) return
      redis.refreshSlotsCache()
      this.readSlotMap(REFRESH_EVERY)
    })
  }

  private giveUpUnused(cluster: Cluster) {
    const { fences } = this
    const serving = servingNodes(cluster)
    const known = new Set(cluster.nodes('all').map(addressOf))
    for (const [at, fence] of fences) {
      if (serving.has(at)) continue
      fence.giveUp()
      if (known.has(at)) continue
      fence.close()
      fences.delete(at)
    }
  }
}
