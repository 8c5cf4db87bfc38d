import type { Hold } from '../ownership/hold'
import type { HoldRegistry } from '../ownership/hold-registry'
import type { Clock, Moment, Timer } from '../runtime/clock'

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

  /**
   * Local callers sleep before this lock from now on; returns how to say that they no longer do. `waitingSince` tells
   * since when the first in the queue has been there: many who came and went do not add up to one that hangs.
   */
  watch(lockIds: readonly string[], waitingSince: () => Moment | undefined): () => void {
    const { clock } = this
    let timer: Timer
    const look = () => {
      const hold = this.holds.first(lockIds)
      const since = waitingSince()
      let blocked = 0
      if (hold && since && !hold.warnedOfSelfWait) {
        blocked = Math.min(clock.elapsedSince(hold.acquired), clock.elapsedSince(since))
        if (blocked >= SUSPICIOUS_AFTER) {
          this.warn(hold)
          blocked = 0
        }
      }
      timer = clock.after(SUSPICIOUS_AFTER - blocked, look)
    }
    timer = clock.after(SUSPICIOUS_AFTER, look)
    return () => timer.cancel()
  }

  private warn(hold: Hold) {
    hold.warnedOfSelfWait = true
    process.emitWarning(
      `The lock ${JSON.stringify(hold.lockName)} is held by this client (thread id ${hold.threadId}) and has ` +
        `kept another caller of this client waiting for ${SUSPICIOUS_AFTER} ms. If the waiting call is nested in ` +
        'the code that holds the lock, it waits for itself: lock() re-enters only within redisson.run(), within ' +
        'withLock(), or with the same threadId option.',
      { code: 'RLOCK_SELF_WAIT' },
    )
  }
}
