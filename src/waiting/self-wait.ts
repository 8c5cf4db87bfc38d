import type { HoldRegistry } from '../ownership/hold-registry'
import type { Clock } from '../runtime/clock'

const SUSPICIOUS_AFTER = 5_000

/**
 * Warns once a hold when it has kept a caller of the same client waiting for long: JavaScript has no
 * threads to tell a nested call from a stranger's, and a nested one without a scope waits for itself.
 */
export class SelfWaitWarning {
  constructor(
    private readonly clock: Clock,
    private readonly holds: HoldRegistry,
  ) {}

  /** A local caller goes to sleep before this lock; returns how to say that it woke. */
  watch(lockIds: readonly string[]): () => void {
    const hold = this.holds.first(lockIds)
    if (!hold || hold.warnedOfSelfWait) return () => {}
    hold.blockedSince ??= this.clock.now()
    const timer = this.clock.after(SUSPICIOUS_AFTER - this.clock.elapsedSince(hold.blockedSince), () => {
      if (hold.state !== 'held' || hold.warnedOfSelfWait) return
      hold.warnedOfSelfWait = true
      process.emitWarning(
        `The lock ${JSON.stringify(hold.lockName)} is held by this client (thread id ${hold.threadId}) and has ` +
          `kept another caller of this client waiting for ${SUSPICIOUS_AFTER} ms. If the waiting call is nested in ` +
          'the code that holds the lock, it waits for itself: lock() re-enters only within redisson.run(), within ' +
          'withLock(), or with the same threadId option.',
        { code: 'RLOCK_SELF_WAIT' },
      )
    })
    return () => timer.cancel()
  }
}
