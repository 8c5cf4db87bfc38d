import type { PublishCommand } from '../connection/messages'
import { readClockParts, readWriteLockChannel } from '../names/redis-names'
import type { Caller } from '../ownership/callers'
import type { Hold } from '../ownership/hold'
import type { Renewal } from '../renewal/renewal'
import type { Script } from '../scripts/script'
import type { ScriptCall, ScriptRunner } from '../scripts/script-runner'
import type { LockState } from './lock-protocol'

/** What the two sides of a read-write lock need of their client. */
export interface ReadWriteLockClient {
  readonly clientId: string
  readonly runner: ScriptRunner
  readonly publish: PublishCommand
  readonly readRenewal: Renewal
  readonly writeRenewal: Renewal
}

export function sideId(side: 'read' | 'write', key: string): string {
  return `${side} ${key}`
}

/** What the read side and the write side have in common: one key, one channel, and each other. */
export abstract class ReadWriteSide {
  readonly channel: string
  readonly lockId: string
  readonly lockIds: readonly string[]
  protected readonly otherLockId: string
  protected readonly keys: readonly string[]
  protected readonly clocks: { readonly before: string; readonly behind: string }
  /**
   * A key beside the lock that nobody ever sets. While their slot moves, a script with both is put off (TRYAGAIN):
   * clocks that are still on their way must not be taken for those of dead readers.
   */
  protected readonly neverThere: string

  constructor(
    readonly name: string,
    readonly key: string,
    protected readonly client: ReadWriteLockClient,
    side: 'read' | 'write',
  ) {
    this.channel = readWriteLockChannel(key)
    this.lockId = sideId(side, key)
    this.otherLockId = sideId(side === 'read' ? 'write' : 'read', key)
    // What frees one side may let the waiters of the other in.
    this.lockIds = [this.lockId, this.otherLockId]
    this.keys = [key]
    this.clocks = readClockParts(key)
    this.neverThere = `${this.clocks.before}${this.clocks.behind}0`
  }

  /** What this caller holds of the other side. */
  protected heldBeside(caller: Caller): Hold | undefined {
    const place = caller.placeOfHold(this.otherLockId)
    const hold = place?.table.get(place.key)?.hold
    return hold?.state === 'held' && !hold.isPastDeadline ? hold : undefined
  }

  protected run(script: Script, args: readonly (string | number)[], acknowledged = false): ScriptCall {
    return this.client.runner.run(script, this.keys, args, acknowledged)
  }

  protected async inspectBy(script: Script, owner: string): Promise<LockState> {
    const { value } = await this.run(script, [owner]).answer
    const [timeToLive, count, ...holders] = value as [number, number, ...string[]]
    return { timeToLive, count, holders }
  }
}
