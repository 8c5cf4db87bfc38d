import { RedisUnavailableError } from '../api/errors'
import type { ScriptCall } from '../scripts/script-runner'
import type { AcquireRequest } from '../waiting/waiter'
import { type ClientContext, quote } from './client-context'
import type { LockProtocol } from './lock-protocol'

/** One owner's wish for one lock, as the queue before it sees it. */
export class Acquisition implements AcquireRequest {
  constructor(
    private readonly context: ClientContext,
    private readonly protocol: LockProtocol,
    private readonly owner: string,
    /** The field of what its caller holds beside, where that lets it in. */
    private readonly beside: string | undefined,
    readonly lease: number,
    readonly waitTime: number | undefined,
    readonly signal: AbortSignal | undefined,
  ) {}

  get grace(): number {
    return this.context.grace
  }

  get lockName(): string {
    return quote(this.protocol.name)
  }

  get canTakeOver(): boolean {
    return this.protocol.handOver !== undefined
  }

  start(): ScriptCall {
    return this.protocol.acquire(this.owner, this.lease, this.beside)
  }

  takeOver(giver: string): ScriptCall {
    return this.protocol.handOver!(giver, this.owner, this.lease)
  }

  abandon(call: ScriptCall): void {
    this.context.givingBack.attempt(this.protocol, this.owner, this.lease, call)
  }

  giveBackLateCopy(): void {
    const { context, protocol, owner, lease } = this
    context.givingBack.hold(protocol, owner, lease, context.clock.now())
  }

  unavailable(attempt: ScriptCall | undefined): Error | undefined {
    if (!this.context.isServerAway() && !attempt?.lastError) return undefined
    const why = attempt?.lastError ? `: ${attempt.lastError.message}` : ''
    return new RedisUnavailableError(
      `Redis could not be asked when the wait for the lock ${this.lockName} was over${why}`,
      attempt?.lastError && { cause: attempt.lastError },
    )
  }
}
