import type { RLock } from './rlock'

/**
 * Redisson's RReadWriteLock: many readers or one writer, on Redis, shared with Java services that use Redisson.
 *
 * Either side re-enters, and a writer may take the read lock and release the write lock first, which lets
 * waiting readers in at once (Java leaves them asleep until the lease runs out). The other way round cannot
 * succeed: a caller that holds the read lock and waits for the write lock would wait for itself, and is
 * rejected with IllegalMonitorStateError instead (Java waits for ever). Readers that keep coming may keep a
 * writer out, as in Java.
 */
export interface RReadWriteLock {
  /** The name given to `getReadWriteLock`. */
  getName(): string
  /** The read side; the same object each time. */
  readLock(): RLock
  /** The write side; the same object each time. */
  writeLock(): RLock
}
