import type { Cluster, Redis } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { addressOf, servingNodes } from '../cluster-nodes'
import { ConnectionFence } from './connection-fence'
import { BrokenConnections } from './fence-states'

/** How often the client reads the map of slots while the fence of a broken connection is pending, in ms. */
const REFRESH_EVERY = 500

/**
 * The fences of a cluster's connections. ioredis connects to a node only when it sends a command there, and the commands wait
 * for the fence. So this class reads the map of slots again and connects to the node, until the node has answered or serves
 * no slot any more.
 */
export class ClusterFences {
  readonly broken: BrokenConnections
  private readonly fences = new Map<string, ConnectionFence>()
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly cluster: Cluster,
    private readonly clock: Clock,
  ) {
    this.broken = new BrokenConnections(() => this.readSlotMap(0))
    cluster.on('+node', (node: Redis) => this.watch(node))
    cluster.on('refresh', () => this.giveUpUnused())
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    for (const fence of this.fences.values()) fence.close()
  }

  private watch(node: Redis) {
    const at = addressOf(node)
    let fence = this.fences.get(at)
    if (!fence) {
      fence = new ConnectionFence(at, this.broken, this.clock)
      this.fences.set(at, fence)
    }
    fence.watch(node)
    if (fence.isPending) node.connect().catch(() => {})
  }

  private readSlotMap(delay: number) {
    if (this.closed) return
    this.timer ??= this.clock.after(delay, () => {
      this.timer = undefined
      if (this.broken.pending === 0) return
      this.cluster.refreshSlotsCache()
      this.readSlotMap(REFRESH_EVERY)
    })
  }

  private giveUpUnused() {
    const { cluster, fences } = this
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
