import { type Cluster, Redis } from 'ioredis'
import type { Clock, Moment } from '../../util/clock'
import { runIdOf } from '../handshake'
import type { RedisTarget } from '../target'

/** What a multi lock asks of the server of a member. */
export type KnownServer = Pick<ServerIdentity, 'address' | 'id' | 'wasReplacedWithin'>

/** Which server a client talks to, and since when it is this one. Costs no command: the handshake has asked. */
export class ServerIdentity {
  /** As the options of the client name it: two clients of one server may have two addresses. */
  readonly address: string
  private runId: string | undefined
  private replacedAt: Moment | undefined

  constructor(
    redis: Redis | Cluster,
    target: RedisTarget,
    private readonly clock: Clock,
  ) {
    const db = target.kind === 'cluster' ? 0 : (target.options.db ?? 0)
    this.address = `${target.description}/${db}`
    if (!(redis instanceof Redis)) return
    redis.on('ready', () => {
      const runId = runIdOf(redis)
      if (runId === undefined) return
      if (this.runId !== undefined && this.runId !== runId) this.replacedAt = clock.now()
      this.runId = runId
    })
  }

  /** Tells servers apart: the run id, or the address where that is not known (a cluster, INFO refused). */
  get id(): string {
    return this.runId ?? this.address
  }

  /** Whether, less than `ms` ago, this client found another server in its place, or the same one started anew. */
  wasReplacedWithin(ms: number): boolean {
    return this.replacedAt !== undefined && this.clock.elapsedSince(this.replacedAt) < ms
  }
}
