import type { RLock } from './rlock'

/**
 * Redisson's RReadWriteLock: many readers or one writer, on Redis, shared with Java services that use Redisson.
 *
 * Either side re-enters, and a writer may take the read lock and release the write lock first, which lets
 * waiting readers in at once (Java leaves them asleep until the lease runs out). The other way round cannot
 * succeed: a caller that holds the read lock and waits for the write lock would wait for itself, and is
 * rejected with IllegalMonitorStateError instead (Java waits for ever). Readers that keep coming may keep a
 * writer out, as in Java.
 *
 * Concurrent branches below a thread that writes (`withLock` calls within it) read together, or one of them writes. A
 * branch that wants to write while it, or an ancestor of it, reads beside other branches is rejected with
 * IllegalMonitorStateError. While a branch waits to write, its ancestors that are outside wait behind the same readers
 * and do not enter ahead of it, so that an ancestor may enter and then await the branch. Where no ancestor writes,
 * take no read lock and then await a branch that waits to write already: the branch waits for that read lock.
 *
 * @example
 * ```ts
 * const prices = redisson.getReadWriteLock('prices')
 * await prices.readLock().withLock(read)
 * await prices.writeLock().withLock(change)
 * ```
 */
export interface RReadWriteLock {
  /** The name given to `getReadWriteLock`. */
  getName(): string
  /** The read side; the same object each time. */
  readLock(): RLock
  /** The write side; the same object each time. */
  writeLock(): RLock
}
