import type { Disturbances } from './disturbances'
import { isJava, type LockState, type Section } from './sections'

/** A waiter that others pass for this long (µs), with nothing broken around it, is stuck. */
const STUCK_AFTER = 45_000_000
const PASSED_BY = 40
/** No Java hold that is released lasts for so many turns. */
const KEPT_BY_JAVA = 5_000_000

/** Finds those that are passed by all others. */
export class StuckWaiters {
  /** How many turns there had been when a waiter was first seen. */
  private readonly turnsSeen = new WeakMap<Section, number>()
  private readonly reported = new WeakSet<Section>()

  constructor(private readonly disturbances: Disturbances) {}

  entered(lock: LockState): void {
    for (const waiter of lock.waiting.values())
      if (!this.turnsSeen.has(waiter)) this.turnsSeen.set(waiter, lock.turns)
  }

  /** Turns that a Java thread had in a hold it counted twice passed no waiter: others could not come in. */
  forget(lock: LockState): void {
    for (const waiter of lock.waiting.values()) this.turnsSeen.set(waiter, lock.turns)
  }

  /** Each of them once. */
  look(locks: readonly LockState[], now: number): { waiter: Section; waited: number }[] {
    return locks.flatMap((lock) =>
      [...lock.waiting.values()].flatMap((waiter) => {
        if (!this.isStuck(lock, waiter, now)) return []
        this.reported.add(waiter)
        return { waiter, waited: now - waiter.wantAt }
      }),
    )
  }

  private isStuck(lock: LockState, waiter: Section, now: number): boolean {
    if (now - waiter.wantAt < STUCK_AFTER || this.reported.has(waiter) || isJava(waiter.worker)) return false
    // A read-write lock of Redisson's prefers neither side: among readers that come and go writers may starve awake.
    if (waiter.side === 'w') return false
    if (now - (lock.keptByJavaUntil ?? 0) < KEPT_BY_JAVA) return false
    if (lock.turns - (this.turnsSeen.get(waiter) ?? 0) < PASSED_BY) return false
    return this.disturbances.quiet(waiter.worker, waiter.wantAt, now) >= STUCK_AFTER / 3
  }
}
