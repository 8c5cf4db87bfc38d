import type { Context } from '../client/context'
import type { Caller, Hold } from '../engine/hold'
import type { ReleaseReply } from '../engine/lock-scripts'
import { prefixed, suffixed } from '../redis/names'
import type { ScriptCall } from '../scripts/script-call'
import { NamedLock } from './named-lock'

/** The channel on which the release of either side is published. */
export function readWriteLockChannel(key: string): string {
  return prefixed('redisson_rwlock', key)
}

/** The parts before and after an owner field in the names of read timeout keys. The number of the level comes last. */
export function readTimeoutParts(key: string): { readonly before: string; readonly behind: string } {
  return { before: suffixed(key, ''), behind: ':rwlock_timeout:' }
}

/** What the read side and the write side have in common: one key, one channel, and the calls that are the same. */
export abstract class ReadWriteSide extends NamedLock {
  /** What the last reader publishes when it leaves. A writer publishes another text. */
  readonly allLeft = '0'
  /** Other readers may keep the key longer than the lease of one hold, and so may the reads of a writer. */
  readonly keyOutlivesLease = true
  protected readonly otherLockId: string
  /** The lock, and a key beside it that no client ever sets. */
  protected readonly guardedKeys: readonly string[]
  protected readonly timeoutKeyParts: { readonly before: string; readonly behind: string }

  constructor(name: string, key: string, context: Context, side: 'read' | 'write') {
    const otherLockId = `${side === 'read' ? 'write' : 'read'} ${key}`
    super(name, key, context, `${side} ${key}`, readWriteLockChannel(key), otherLockId)
    this.otherLockId = otherLockId
    this.timeoutKeyParts = readTimeoutParts(key)
    // While the keys of a lock move to another node, the server answers TRYAGAIN to a script that names both of these.
    // Without that, the script would take timeout keys that have not moved yet for those of dead readers.
    this.guardedKeys = [key, `${this.timeoutKeyParts.before}${this.timeoutKeyParts.behind}0`]
  }

  /** The live hold of this caller on the other side. */
  protected companionHold(caller: Caller): Hold | undefined {
    const hold = caller.holdOf(this.otherLockId)
    return hold?.state === 'held' && !hold.book.isPastDeadline ? hold : undefined
  }

  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply> {
    const { before, behind } = this.timeoutKeyParts
    const { publishCommand, scripts } = this.context
    const args = [owner, count, lease, this.channel, publishCommand, leaseEnd, before, behind]
    return scripts.run(this.own.release, this.guardedKeys, args)
  }
}
