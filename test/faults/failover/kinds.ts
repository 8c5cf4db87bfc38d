import type { Redisson, RLock } from '../../../src/index'

type LockOf = (redisson: Redisson, name: string) => Pick<RLock, 'acquire'>

export const KINDS: Record<string, LockOf> = {
  'a lock': (redisson, name) => redisson.getLock(name),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a fenced lock': (redisson, name) => redisson.getFencedLock(name),
  'a non-reentrant lock': (redisson, name) => redisson.getNonReentrantLock(name),
  'a spin lock': (redisson, name) => redisson.getSpinLock(name),
  'a token lock': (redisson, name) => redisson.getTokenLock(name),
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}

/** What a contender of each kind asks for: a reader would be let in beside a reader. */
export const contending: typeof KINDS = {
  ...KINDS,
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}
