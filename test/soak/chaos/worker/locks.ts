import type { LockHold, Redisson } from '../../../../src/index'
import type { Side } from '../evidence/records'
import type { LockKind, LockPlan } from '../plan/objects'

/** What a caller needs of a lock of any kind. */
export interface AnyLock {
  acquire(options?: { leaseTime?: number; signal?: AbortSignal }): Promise<LockHold>
  tryAcquire(options?: { waitTime?: number; leaseTime?: number }): Promise<LockHold | undefined>
}

const REFUSE_REENTRY: readonly LockKind[] = ['nonReentrant', 'nonReentrantFair', 'token']

export const refusesReentry = ({ kind }: LockPlan): boolean => REFUSE_REENTRY.includes(kind)

export function lockOf(redisson: Redisson, { name, kind }: LockPlan, side: Side): AnyLock {
  switch (kind) {
    case 'lock':
      return redisson.getLock(name)
    case 'readWrite':
      return side === 'r'
        ? redisson.getReadWriteLock(name).readLock()
        : redisson.getReadWriteLock(name).writeLock()
    case 'fair':
      return redisson.getFairLock(name)
    case 'nonReentrantFair':
      return redisson.getNonReentrantFairLock(name)
    case 'fenced':
      return redisson.getFencedLock(name)
    case 'nonReentrant':
      return redisson.getNonReentrantLock(name)
    case 'spin':
      return redisson.getSpinLock(name)
    case 'token':
      return redisson.getTokenLock(name)
  }
}
