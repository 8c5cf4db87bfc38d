import type { HoldRegistry } from '../ownership/hold-registry'
import type { Clock } from '../runtime/clock'
import type { Reply, ScriptCall } from '../scripts/script-runner'
import { Gate, type GateSurroundings, type WaitingFor } from './gate'
import { SelfWaitWarning } from './self-wait'
import type { Subscriptions } from './subscriptions'
import type { Turn } from './turn'
import type { AcquireRequest } from './waiter'

export interface WaitingRoomOptions {
  readonly clock: Clock
  readonly subscriptions: Subscriptions
  readonly holds: HoldRegistry
  readonly unavailableAfter: number
  /** A key without expiry, or one this process holds itself, is looked at again after this long at the latest. */
  readonly longestSleep: number
  /** Whether the server says how many clients heard a message: in a cluster only of those that listen at the same node. */
  readonly audienceIsKnown: boolean
}

/** What a lock is called where it is waited for. */
type Waited = Pick<WaitingFor, 'lockIds' | 'channel'>

/** All queues of a client: one a lock while somebody is acquiring it, none otherwise. */
export class WaitingRoom implements GateSurroundings {
  readonly clock: Clock
  readonly longestSleep: number
  readonly unavailableAfter: number
  private readonly gates = new Map<string, Gate>()
  private readonly selfWait: SelfWaitWarning

  constructor(private readonly options: WaitingRoomOptions) {
    this.clock = options.clock
    this.longestSleep = options.longestSleep
    this.unavailableAfter = options.unavailableAfter
    this.selfWait = new SelfWaitWarning(options.clock, options.holds)
  }

  /** Whether local callers are before this lock already. */
  hasQueue(lockId: string): boolean {
    return this.gates.get(lockId)?.isEmpty === false
  }

  /** Resolves with the reply that acquired, or undefined when the wait was over. */
  acquire(lock: WaitingFor, request: AcquireRequest): Promise<Reply | undefined> {
    let gate = this.gates.get(lock.lockId)
    if (!gate) {
      gate = new Gate(lock, this)
      this.gates.set(lock.lockId, gate)
    }
    return gate.join(request).result
  }

  /** Hands the lock to the first who waits for it here; undefined where it is to be released for everybody to hear. */
  handOver(lockId: string, giver: string, leaseLeft: number): ScriptCall | undefined {
    return this.gates.get(lockId)?.handOver(giver, leaseLeft)
  }

  /** The lock is about to be freed from here. */
  freeing(lock: Waited): void {
    this.options.subscriptions.turn(lock.channel)?.release()
  }

  /**
   * The lock was freed from here, and so many clients were told; undefined: nobody. The server's message wakes the
   * first local waiter like everybody else's; where it was not sent, or may not arrive, this does.
   */
  freed(lock: Waited, told: number | undefined): void {
    const { subscriptions, audienceIsKnown } = this.options
    const isHeard = subscriptions.isConfirmed(lock.channel)
    const others = (told ?? 0) - (isHeard ? 1 : 0)
    subscriptions.turn(lock.channel)?.released(audienceIsKnown ? Math.max(0, others) : 1)
    if (this.gates.size === 0) return
    if (told !== undefined && isHeard) for (const id of lock.lockIds) this.gates.get(id)?.reconsider()
    else if (told === undefined || lock.lockIds.some((id) => this.gates.has(id))) this.mayBeFree(lock)
  }

  /** Nobody was told, and somebody else may be in already: whoever waits here looks for himself. */
  mayBeFree({ channel, lockIds }: Waited): void {
    this.options.subscriptions.wake(channel)
    for (const id of lockIds) this.gates.get(id)?.wake()
  }

  close(error: unknown): void {
    for (const gate of this.gates.values()) gate.close(error)
  }

  listen({ channel }: WaitingFor, wake: () => void): () => void {
    return this.options.subscriptions.listen(channel, { wake })
  }

  isConfirmed({ channel }: WaitingFor): boolean {
    return this.options.subscriptions.isConfirmed(channel)
  }

  turn({ channel }: WaitingFor): Turn | undefined {
    return this.options.subscriptions.turn(channel)
  }

  watch(gate: Gate): () => void {
    return this.selfWait.watch(gate.lock.lockIds, () => gate.first?.joined)
  }

  surelyHeldFor({ lockIds, channel }: WaitingFor): number {
    const hold = this.options.holds.first(lockIds)
    if (!hold || !this.options.subscriptions.isQuietSince(channel, hold.granted)) return 0
    return hold.remaining()
  }

  empty(gate: Gate): void {
    const { lockId } = gate.lock
    if (gate.isEmpty && this.gates.get(lockId) === gate) this.gates.delete(lockId)
  }
}
