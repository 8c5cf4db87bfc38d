import type { RLock } from '../api/rlock'
import type { RReadWriteLock } from '../api/rread-write-lock'

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
