import { Cluster, type Redis } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { addressOf, servingNodes } from '../connect/cluster-nodes'
import { inTime } from '../connect/connect'
import { unanswered } from '../connect/ioredis-internals'
import { classify } from '../reply/errors'
import type { RedisTarget } from '../target/target'
import { type BrokenConnection, BrokenConnections } from './fence-states'

const RETRY_AFTER = 250
/** How often the client reads the map of slots while the fence of a broken connection is pending, in ms. */
const REFRESH_EVERY = 500

/**
 * The id of a connection, and the run id of its server. A restarted server numbers its connections from 1
 * again.
 */
interface Identity {
  readonly id: number
  readonly runId: string
}

/**
 * Ensures that the commands of a client's broken connections do not arrive later.
 *
 * A command that was in flight when its connection broke may be delayed in a network, a proxy or a buffer. It
 * may arrive after commands that are sent later. So the client asks for the id of each connection. The next
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
  private readonly pending = new Map<BrokenConnection, Identity>()
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
    let identity: Partial<Identity> = {}
    let identified: Promise<void> = Promise.resolve()
    redis.on('connect', () => {
      const own: Partial<Identity> = {}
      const { stream } = redis
      identity = own
      // A server that became a replica refuses every command in flight, and ioredis adds a listener for each.
      stream.setMaxListeners(0)
      // The id is read during the handshake, so that the answer comes before any command of the client is
      // sent.
      identified = this.identify(redis, own, () => redis.stream === stream && !stream.destroyed)
      // This listener runs before ioredis rejects the unanswered commands, because their callers read this
      // state.
      redis.stream.prependOnceListener('close', () => this.ended(server, redis, own))
    })
    redis.on('ready', () => {
      if (this.pending.size === 0) return
      const { stream } = redis
      const own = identity
      const isSame = () => redis.stream === stream && redis.status === 'ready'
      void identified.then(() => {
        for (const [broken, lost] of this.pendingOf(server)) {
          if (!isSame()) return
          if (own.runId === lost.runId) this.kill(redis, broken, lost, isSame)
          else this.settle(broken, 'unfenced')
        }
      })
    })
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    for (const broken of [...this.pending.keys()]) this.settle(broken, 'unfenced')
  }

  private pendingOf(server: string): [BrokenConnection, Identity][] {
    return [...this.pending].filter(([broken]) => broken.server === server)
  }

  private ended(server: string, redis: Redis, { id, runId }: Partial<Identity>) {
    // A connection that never became ready carried no commands.
    if (redis.status !== 'ready') return
    if (unanswered(redis) === 0) this.broken.add(server, 'fenced')
    else if (this.closed || id === undefined || runId === undefined) this.broken.add(server, 'unfenced')
    else {
      this.pending.set(this.broken.add(server, 'pending'), { id, runId })
      this.readSlotMap(0)
    }
  }

  /**
   * Asks for the ids. Asks a server that is busy or loading again, because pending fences wait for the
   * answer.
   */
  private async identify(redis: Redis, identity: Partial<Identity>, isSame: () => boolean): Promise<void> {
    while (isSame() && !this.closed) {
      try {
        const [id, info] = await Promise.all([redis.client('ID'), redis.info('server')])
        const runId = /^run_id:(\w+)/m.exec(info)?.[1]
        if (runId !== undefined) Object.assign(identity, { id: Number(id), runId })
        return
      } catch (error) {
        // The user may not ask, or the connection is gone already.
        if (classify(error) !== 'transient') return
        await new Promise<void>((resolve) => this.clock.after(RETRY_AFTER, resolve))
      }
    }
  }

  private kill(redis: Redis, broken: BrokenConnection, lost: Identity, isSame: () => boolean) {
    redis.client('KILL', 'ID', lost.id).then(
      // How many it killed does not matter: 0 means that the server has closed it already.
      () => this.settle(broken, 'fenced'),
      (error) => {
        const kind = classify(error)
        if (kind === 'connection') return
        if (kind !== 'transient') return this.settle(broken, 'unfenced')
        this.clock.after(RETRY_AFTER, () => {
          if (isSame() && this.pending.has(broken)) this.kill(redis, broken, lost, isSame)
        })
      },
    )
  }

  private settle(broken: BrokenConnection, state: 'fenced' | 'unfenced') {
    this.pending.delete(broken)
    broken.settle(state)
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
    for (const broken of [...this.pending.keys()])
      if (!serving.has(broken.server)) this.settle(broken, 'unfenced')
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
