import { Cluster, Redis } from 'ioredis'
import { reachedAt } from '../cluster-nodes'
import { runIdOf } from '../ioredis-internals'
import type { RedisTarget } from '../target'

/** The identity of a member's server, as a multi lock needs it. */
export type KnownServer = Pick<ServerIdentity, 'address' | 'db' | 'id'>

/** The server of a client. Needs no command of its own: the handshake has asked. */
export class ServerIdentity {
  /** The address and the database in the options of the client. Two clients of one server may have different addresses. */
  readonly address: string
  readonly db: number
  private runId: string | undefined

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly target: RedisTarget,
  ) {
    this.db = target.options.db ?? 0
    this.address = `${target.description}/${this.db}`
    if (!(redis instanceof Redis)) return
    redis.on('ready', () => {
      this.runId = runIdOf(redis) ?? this.runId
    })
  }

  /**
   * Distinguishes the servers of this moment: the run id, or the address if INFO is refused. A server that restarted has another
   * one. For a cluster, the node of its first slot: two clients of one cluster may have different start nodes.
   */
  get id(): string {
    const { redis, runId, target } = this
    const first = redis instanceof Cluster ? redis.slots[0]?.[0] : undefined
    return first === undefined ? (runId ?? target.description) : reachedAt(redis as Cluster, first)
  }
}
