import type { HoldRegistry } from '../ownership/hold-registry'
import type { Clock } from '../runtime/clock'
import { Gate } from './gate'
import { SelfWaitWarning } from './self-wait'
import type { Subscriptions } from './subscriptions'
import type { AcquireRequest } from './waiter'

export interface WaitingRoomOptions {
  readonly clock: Clock
  readonly subscriptions: Subscriptions
  readonly holds: HoldRegistry
  readonly unavailableAfter: number
  /** A key without expiry, or one this process holds itself, is looked at again after this long at the latest. */
  readonly longestSleep: number
}

/** The lock, as far as waiting for it goes. */
export interface WaitingFor {
  readonly lockId: string
  readonly lockIds: readonly string[]
  readonly channel: string
  readonly shared: boolean
}

/** All queues of a client: one a lock while somebody is acquiring it, none otherwise. */
export class WaitingRoom {
  private readonly gates = new Map<string, Gate>()
  private readonly selfWait: SelfWaitWarning

  constructor(private readonly options: WaitingRoomOptions) {
    this.selfWait = new SelfWaitWarning(options.clock, options.holds)
  }

  /** Whether local callers are before this lock already. */
  hasQueue(lockId: string): boolean {
    return this.gates.get(lockId)?.isEmpty === false
  }

  async acquire(lock: WaitingFor, request: AcquireRequest) {
    const gate = this.gates.get(lock.lockId) ?? this.open(lock)
    return await gate.join(request).result
  }

  /**
   * The lock was freed from here. The server's message wakes the first local waiter like everybody else's;
   * where it was not sent, or may not arrive, this does.
   */
  freed({ lockIds, channel }: Pick<WaitingFor, 'lockIds' | 'channel'>, told: boolean): void {
    if (
      told &&
      (!lockIds.some((id) => this.gates.has(id)) || this.options.subscriptions.isConfirmed(channel))
    )
      return
    this.options.subscriptions.wake(channel)
    for (const id of lockIds) this.gates.get(id)?.wake()
  }

  close(error: unknown): void {
    for (const gate of this.gates.values()) gate.close(error)
  }

  private open({ lockId, lockIds, channel, shared }: WaitingFor): Gate {
    const { clock, subscriptions, longestSleep, unavailableAfter } = this.options
    const gate = new Gate({
      clock,
      shared,
      longestSleep,
      unavailableAfter,
      listen: (wake) => subscriptions.listen(channel, { wake }),
      isConfirmed: () => subscriptions.isConfirmed(channel),
      blocked: (waitingSince) => this.selfWait.watch(lockIds, waitingSince),
      empty: () => {
        if (gate.isEmpty) this.gates.delete(lockId)
      },
    })
    this.gates.set(lockId, gate)
    return gate
  }
}
