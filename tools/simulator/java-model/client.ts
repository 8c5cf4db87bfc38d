import type { JavaContext } from './context'
import { Entries } from './entries'
import { FairLock, FencedLock, type JavaLock, PlainLock } from './locks'
import type { JavaPort } from './port'
import { ReadLock, WriteLock } from './read-write'
import { JavaLatch, JavaSemaphore, LeasedSemaphore } from './semaphores'
import { Watchdog } from './watchdog'

export interface JavaClientOptions {
  readonly clientId: string
  readonly lockWatchdogTimeout?: number
  readonly fairLockWaitTimeout?: number
}

export type JavaLockKind = 'lock' | 'fair' | 'fenced' | 'read' | 'write'

/**
 * A model of a Java client of Redisson 4, as the wire protocol describes it: one entry for each channel that its threads wait
 * on, renewal by a third, sleep by the TTL that it read, deadlines of fair places by its own clock. A call names its thread.
 */
export class JavaClient {
  private readonly context: JavaContext

  constructor(
    port: JavaPort,
    { clientId, lockWatchdogTimeout = 30_000, fairLockWaitTimeout = 300_000 }: JavaClientOptions,
  ) {
    const entries = new Entries(port)
    const watchdog = new Watchdog(port, lockWatchdogTimeout)
    this.context = { port, clientId, lockWatchdogTimeout, fairLockWaitTimeout, entries, watchdog }
  }

  /** A new object each time: Java keeps the last lease on it. */
  lock(kind: JavaLockKind, name: string): JavaLock {
    const { context } = this
    switch (kind) {
      case 'fair':
        return new FairLock(context, name)
      case 'fenced':
        return new FencedLock(context, name)
      case 'read':
        return new ReadLock(context, name)
      case 'write':
        return new WriteLock(context, name)
      default:
        return new PlainLock(context, name)
    }
  }

  /** Channels, threads asleep and keys that are renewed: what tells two states of the client apart. */
  stats(): Record<string, number> {
    const { entries, watchdog } = this.context
    return { ...entries.stats(), renewed: watchdog.size }
  }

  semaphore(name: string): JavaSemaphore {
    return new JavaSemaphore(this.context, name)
  }

  leasedSemaphore(name: string): LeasedSemaphore {
    return new LeasedSemaphore(this.context, name)
  }

  latch(name: string): JavaLatch {
    return new JavaLatch(this.context, name)
  }
}
