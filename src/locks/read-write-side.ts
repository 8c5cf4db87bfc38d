import type { Context } from '../client/context'
import { readTimeoutParts, readWriteLockChannel } from '../redis/names'
import type { Caller, Hold } from '../reentrant/hold'
import type { Script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'

export function sideId(side: 'read' | 'write', key: string): string {
  return `${side} ${key}`
}

/** What the read side and the write side have in common: one key, one channel, and each other. */
export abstract class ReadWriteSide {
  readonly channel: string
  readonly lockId: string
  readonly exclusiveLockId: string
  readonly lockIds: readonly string[]
  /** The readers of one key keep it for each other, and a writer's reads keep it for its write hold. */
  readonly keyOutlivesLease = true
  protected readonly otherLockId: string
  protected readonly keys: readonly string[]
  protected readonly timeoutKeyParts: { readonly before: string; readonly behind: string }
  /**
   * A key beside the lock that no client ever sets. While they move to another node, the server puts a script with both
   * off (TRYAGAIN): timeout keys that have not moved yet must not be taken for those of dead readers.
   */
  protected readonly movingGuardKey: string

  constructor(
    readonly name: string,
    readonly key: string,
    protected readonly context: Context,
    side: 'read' | 'write',
  ) {
    this.channel = readWriteLockChannel(key)
    this.lockId = sideId(side, key)
    this.exclusiveLockId = sideId('write', key)
    this.otherLockId = sideId(side === 'read' ? 'write' : 'read', key)
    // What frees one side may let the waiters of the other in.
    this.lockIds = [this.lockId, this.otherLockId]
    this.keys = [key]
    this.timeoutKeyParts = readTimeoutParts(key)
    this.movingGuardKey = `${this.timeoutKeyParts.before}${this.timeoutKeyParts.behind}0`
  }

  /** What this caller holds of the other side. */
  protected companionHold(caller: Caller): Hold | undefined {
    const place = caller.entryOfHold(this.otherLockId)
    const hold = place?.table.get(place.key)?.hold
    return hold?.state === 'held' && !hold.isPastDeadline ? hold : undefined
  }

  protected run<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    acknowledged = false,
  ): ScriptCall<Value> {
    return this.context.scripts.run(script, this.keys, args, acknowledged)
  }
}
