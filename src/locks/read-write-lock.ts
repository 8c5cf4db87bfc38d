import type { RLock } from '../engine/rlock'

/**
 * Redisson's RReadWriteLock: many readers or one writer, on Redis, shared with Java services that use
 * Redisson.
 *
 * Both sides re-enter. A writer may also take the read lock and release the write lock first. Then waiting
 * readers enter at once (in Java they sleep until the lease ends). The reverse cannot succeed: a caller that
 * holds the read lock and waits for the write lock would wait for itself. It is rejected with
 * IllegalMonitorStateError (Java waits for ever). As in Java, a constant stream of readers can keep a writer
 * out.
 *
 * Concurrent branches below a thread that writes (`withLock` calls within it) enter one by one, first come,
 * first served, also to read. Below a thread that only reads, branches read together. Where no ancestor
 * writes, do not take a read lock and then await a branch that already waits to write: the branch waits for
 * that read lock.
 */
export interface RReadWriteLock {
  /** The name given to `getReadWriteLock`. */
  getName(): string
  /** The read side; the same object each time. */
  readLock(): RLock
  /** The write side; the same object each time. */
  writeLock(): RLock
}

/** The two sides of one key; see the interface. */
export class ReadWriteLock implements RReadWriteLock {
  constructor(
    private readonly name: string,
    private readonly read: RLock,
    private readonly write: RLock,
  ) {}

  getName(): string {
    return this.name
  }

  readLock(): RLock {
    return this.read
  }

  writeLock(): RLock {
    return this.write
  }
}
