import { type Cluster, Redis } from 'ioredis'
import type { Clock, Moment } from '../../util/clock'
import { runIdOf } from '../handshake'
import type { RedisTarget } from '../target'

/** The identity of a member's server, as a multi lock needs it. */
export type KnownServer = Pick<ServerIdentity, 'address' | 'id' | 'wasReplacedWithin'>

/** The server of a client, and when it was last replaced. Needs no command of its own: the handshake has asked. */
export class ServerIdentity {
  /** The address in the options of the client. Two clients of one server may have different addresses. */
  readonly address: string
  private runId: string | undefined
  private replacedAt: Moment | undefined

  constructor(
    redis: Redis | Cluster,
    target: RedisTarget,
    private readonly clock: Clock,
  ) {
    this.address = `${target.description}/${target.options.db ?? 0}`
    if (!(redis instanceof Redis)) return
    redis.on('ready', () => {
      const runId = runIdOf(redis)
      if (runId === undefined) return
      if (this.runId !== undefined && this.runId !== runId) this.replacedAt = clock.now()
      this.runId = runId
    })
  }

  /** Distinguishes servers: the run id, or the address if that is unknown (a cluster, or INFO refused). */
  get id(): string {
    return this.runId ?? this.address
  }

  /** Whether this client found, less than `ms` ago, that the server was replaced or had restarted. */
  wasReplacedWithin(ms: number): boolean {
    return this.replacedAt !== undefined && this.clock.elapsedSince(this.replacedAt) < ms
  }
}
