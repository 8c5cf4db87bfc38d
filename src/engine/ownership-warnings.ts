import type { Client } from '../client/client'
import { quote } from '../util/quote'
import { warnOnce } from '../util/warn-once'

// What callers cannot notice: who owns a hold, and which one `unlock()` ends. Each warning once for each
// client.

/** Code took a lock in a logical thread that has ended: no thread owns that hold. */
export function warnOfEndedThread(client: Client, name: string): void {
  warnOnce(
    client,
    'RLOCK_THREAD_ENDED',
    `The lock ${quote(name)} was taken in a logical thread that has ended (client ${client.clientId}): ` +
      'nothing re-enters it, and only code of that thread finds it by unlock(). A thread ends when the ' +
      'function given to run() or withLock() has settled; in Express, redisson.run(next) is over before ' +
      'the handler runs. Use withLock(), or acquire() and unlock() of its hold, or run() around the ' +
      'handler, to last until its work is done.',
  )
}

/**
 * `unlock()` without a scope releases this hold, and another call of the same object has failed since it was
 * acquired. A call that still waits is no sign: it has not come to its `unlock()`, and correct callers wait
 * for each other all the time.
 */
export function warnOfSharedObject(client: Client, name: string, holder: string): void {
  warnOnce(
    client,
    'RLOCK_SHARED_OBJECT',
    `unlock() releases the lock ${quote(name)} (client ${client.clientId}, ${holder}), and a lock() or ` +
      'tryLock() of the same lock object has failed since it was acquired. If the caller that failed calls ' +
      'this unlock(), it frees the lock of another caller. Call unlock() only after a lock() that resolved ' +
      'or a tryLock() that was true, or use withLock(), which cannot be wrong here.',
  )
}
