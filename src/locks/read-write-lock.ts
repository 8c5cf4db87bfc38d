import type { RLock } from '../api/rlock'
import type { RReadWriteLock } from '../api/rread-write-lock'
import type { Context } from '../client/context'
import { ReentrantLock } from '../engine/reentrant-lock'
import { ReadLockScripts } from './read-lock'
import { WriteLockScripts } from './write-lock'

/** The two sides of one key; see the interface. */
export class ReadWriteLock implements RReadWriteLock {
  private readonly read: RLock
  private readonly write: RLock

  constructor(
    context: Context,
    private readonly name: string,
    key: string,
  ) {
    this.read = new ReentrantLock(context, new ReadLockScripts(name, key, context))
    this.write = new ReentrantLock(context, new WriteLockScripts(name, key, context))
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
