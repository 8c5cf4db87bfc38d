import type { RLock } from '../../../src/engine/rlock'
import type { Redisson } from '../../../src/redisson'
import type { SimulatedObject } from '../judge/history'
import type { Holdable } from '../lock-section'

export type AnyLock = Holdable & Pick<RLock, 'lock' | 'tryLock' | 'unlock'>

/** The lock of a client that an object of one name stands for. */
export function lockOf(redisson: Redisson, { kind, name }: Pick<SimulatedObject, 'kind' | 'name'>): AnyLock {
  switch (kind) {
    case 'fair':
      return redisson.getFairLock(name)
    case 'fenced':
      return redisson.getFencedLock(name)
    case 'non-reentrant':
      return redisson.getNonReentrantLock(name)
    case 'read':
      return redisson.getReadWriteLock(name).readLock()
    case 'spin':
      return redisson.getSpinLock(name)
    case 'token':
      return redisson.getTokenLock(name)
    case 'write':
      return redisson.getReadWriteLock(name).writeLock()
    default:
      return redisson.getLock(name)
  }
}
