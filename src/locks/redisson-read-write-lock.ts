import type { RLock } from '../api/rlock'
import type { RReadWriteLock } from '../api/rread-write-lock'
import type { ClientContext } from './client-context'
import { ReadLock } from './read-lock'
import type { ReadWriteLockClient } from './read-write-side'
import { RedissonLock } from './redisson-lock'
import { WriteLock } from './write-lock'

/** The two sides of one key; see the interface. */
export class RedissonReadWriteLock implements RReadWriteLock {
  private readonly read: RLock
  private readonly write: RLock

  constructor(
    private readonly name: string,
    key: string,
    context: ClientContext,
    client: ReadWriteLockClient,
  ) {
    this.read = new RedissonLock(context, new ReadLock(name, key, client))
    this.write = new RedissonLock(context, new WriteLock(name, key, client))
  }

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
