import { Cluster, type Redis } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { addressOf, servingNodes } from '../connect/cluster-nodes'
import { inTime } from '../connect/connect'
import { handshakes, unanswered } from '../connect/ioredis-internals'
import { classify } from '../reply/errors'
import type { RedisTarget } from '../target/target'

const RETRY_AFTER = 250
/** How often the client reads the map of slots while the fence of a broken connection is pending, in ms. */
const REFRESH_EVERY = 500

/** One connection that broke. */
export class BrokenConnection {
  /**
   * Its commands may still arrive at the server, and a new connection will rule that out. Settled: that is
   * ruled out, or the client cannot prevent it.
   */
  isPending = true
  /** The next connection that broke. */
  next: BrokenConnection | undefined
  private readonly callbacks: (() => void)[] = []

  /** `server`: the address of a cluster node, or '' for a single server. */
  constructor(readonly server: string) {}

  settle(): void {
    this.isPending = false
    for (const callback of this.callbacks.splice(0)) callback()
  }

  /** Calls back once it is settled, which it must not be yet. */
  whenSettled(callback: () => void): void {
    this.callbacks.push(callback)
  }
}

/**
 * The broken connections of a client, in order. A call in flight keeps those that broke after it was sent on
 * them.
 */
export class BrokenConnections {
  last = new BrokenConnection('')

  add(server: string): BrokenConnection {
    const broken = new BrokenConnection(server)
    this.last.next = broken
    this.last = broken
    return broken
  }
}

/**
 * Ensures that the commands of a client's broken connections do not arrive later.
 *
 * A command that was in flight when its connection broke may be delayed in a network, a proxy or a buffer. It
 * may arrive after commands that are sent later. So each connection learns its id in its handshake. The next
 * connection to the same run of the same server kills the broken one (`CLIENT KILL ID`). After that answer
 * the old commands have been executed or never will be. A broken connection stays unfenced if its id is
 * unknown, if the server has restarted or is another one, or if the user may not kill it.
 *
 * ioredis must not resend any command of these connections (`maxRetriesPerRequest: 0`): a kill that reached
 * another server would close the connection of another client.
 *
 * In a cluster, ioredis connects to a node only when it sends a command there, and the commands wait for the
 * fence. So this class reads the map of slots again and connects to the node, until the node has answered or
 * serves no slot any more.
 */
export class Fences {
  readonly broken = new BrokenConnections()
  private readonly pending = new Map<BrokenConnection, { connection: number; runId: string }>()
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly clock: Clock,
  ) {
    if (redis instanceof Cluster) {
      redis.on('+node', (node: Redis) => {
        const server = addressOf(node)
        this.watch(server, node)
        if (this.pendingOf(server).length > 0) node.connect().catch(() => {})
      })
      redis.on('refresh', () => this.giveUpUnused(redis))
    } else this.watch('', redis)
  }

  /** Fences a connection to this server, now and after each reconnect. See BrokenConnection for `server`. */
  watch(server: string, redis: Redis): void {
    redis.on('connect', () => {
      // A server that became a replica refuses every command in flight, and ioredis adds a listener for each.
      redis.stream.setMaxListeners(0)
      // This listener runs before ioredis rejects the unanswered commands, because their callers read this
      // state.
      redis.stream.prependOnceListener('close', () => this.ended(server, redis))
    })
    redis.on('ready', () => {
      const runId = handshakes.get(redis)?.runId
      for (const [broken, lost] of this.pendingOf(server))
        if (runId === lost.runId) this.kill(redis, broken, lost.connection)
        else broken.settle()
    })
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    for (const broken of this.pending.keys()) broken.settle()
  }

  private pendingOf(server: string) {
    return [...this.pending].filter(([broken]) => broken.server === server)
  }

  private ended(server: string, redis: Redis) {
    // A connection that never became ready carried no commands.
    if (redis.status !== 'ready') return
    const { connection, runId } = handshakes.get(redis) ?? {}
    const broken = this.broken.add(server)
    if (unanswered(redis) === 0 || this.closed || connection === undefined || runId === undefined)
      return broken.settle()
    this.pending.set(broken, { connection, runId })
    broken.whenSettled(() => this.pending.delete(broken))
    this.readSlotMap(0)
  }

  private kill(redis: Redis, broken: BrokenConnection, id: number) {
    const { stream } = redis
    redis.client('KILL', 'ID', id).then(
      // How many it killed does not matter: 0 means that the server has closed it already.
      () => broken.settle(),
      (error) => {
        const kind = classify(error)
        if (kind === 'connection') return
        if (kind !== 'transient') return broken.settle()
        this.clock.after(RETRY_AFTER, () => {
          const isSame = redis.stream === stream && redis.status === 'ready'
          if (isSame && this.pending.has(broken)) this.kill(redis, broken, id)
        })
      },
    )
  }

  private readSlotMap(delay: number) {
    const { redis } = this
    if (this.closed || !(redis instanceof Cluster)) return
    this.timer ??= this.clock.after(delay, () => {
      this.timer = undefined
      if (this.pending.size === 0) return
      redis.refreshSlotsCache()
      this.readSlotMap(REFRESH_EVERY)
    })
  }

  /** No new connection to a server without slots will come. */
  private giveUpUnused(cluster: Cluster) {
    if (this.pending.size === 0) return
    const serving = servingNodes(cluster)
    for (const broken of this.pending.keys()) if (!serving.has(broken.server)) broken.settle()
  }
}

/**
 * Emits a process warning if the server refuses what fences a broken connection, because nothing else would
 * tell of it. Never rejects. Other missing rights are reported by the first call or the first release that
 * needs them.
 */
export async function warnIfUnfenced(redis: Redis, target: RedisTarget, clock: Clock): Promise<void> {
  // No connection has this id, so none is killed.
  const killing = redis.client('KILL', 'ID', Number.MAX_SAFE_INTEGER)
  const asked = [redis.client('ID'), killing, redis.info('server')]
  const answers = await Promise.allSettled(asked.map((each) => inTime<unknown>(each, target, clock)))
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
  const refusal = errors.find((error) => classify(error) === 'refused')
  if (!refusal) return
  process.emitWarning(
    `Redis refuses the user ${target.options.username ?? 'default'} what ends a broken connection for ` +
      `certain (${refusal.message}). A command of such a connection may arrive late: it may keep a free ` +
      'lock until its lease ends, or a permit without a lease for ever. Two holders of a lock remain ' +
      'impossible. Grant the user +client|id +client|kill +info, and do not rename them.',
    { code: 'RLOCK_FENCE_REFUSED' },
  )
}
