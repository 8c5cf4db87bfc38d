import type { Client } from '../client/client'
import type { Caller, Hold } from '../engine/hold'
import { prefixed, suffixed } from '../scripts/key-names'
import { BaseLockKind } from './base-lock-kind'

/** The channel on which the release of either side is published. */
export function readWriteLockChannel(key: string): string {
  return prefixed('redisson_rwlock', key)
}

/**
 * The parts before and after an owner field in the names of read timeout keys. The number of the level comes
 * last.
 */
export function readTimeoutParts(key: string): readonly [before: string, behind: string] {
  return [suffixed(key, ''), ':rwlock_timeout:']
}

/**
 * What the read side and the write side have in common: one key, one channel, and the calls that are the
 * same.
 */
export abstract class ReadWriteSide extends BaseLockKind {
  /** What the last reader publishes when it leaves. A writer publishes another text. */
  readonly allLeft = '0'
  /** Other readers, and the reads of a writer, keep it. */
  readonly keyOutlivesLease = true
  protected override readonly timeoutKeyParts = readTimeoutParts(this.key)
  protected readonly otherLockId: string

  constructor(name: string, key: string, client: Client, side: string, otherLockId: string) {
    // The lock, and a key beside it that no client ever sets. While the keys of a lock move to another node,
    // the server answers TRYAGAIN to a script that names both. Without that, the script would take timeout
    // keys that have not moved yet for those of dead readers.
    const guardedKeys = [key, `${readTimeoutParts(key).join('')}0`]
    super(name, key, client, `${side} ${key}`, readWriteLockChannel(key), otherLockId, guardedKeys)
    this.otherLockId = otherLockId
  }

  /** The live hold of this caller on the other side. */
  protected companionHold(caller: Caller): Hold | undefined {
    const hold = caller.holdOf(this.otherLockId)
    return hold?.state === 'held' && !hold.book.isPastDeadline ? hold : undefined
  }
}
