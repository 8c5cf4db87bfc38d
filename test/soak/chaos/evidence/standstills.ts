import type { Disturbances } from './disturbances'
import { isJava, type LockState } from './sections'

/** A lock that is wanted for this long (µs) by a process that no fault touches, with no caller inside, stands still. */
const STANDSTILL_AFTER = 5_000_000
/** Several locks at once, or a majority of them, take several tries: so long without any that succeeds is no chance. */
const SEVERAL_STAND_STILL_AFTER = 15_000_000
/** How recently a key must have been seen with an owner that excuses it. */
const JUST_NOW = 1_500_000

interface Standstill {
  readonly lock: LockState
  /** One of those that want it. */
  readonly worker: string
  readonly since: number
}

/** Finds locks that no caller comes into: their keys may come and go meanwhile, or be kept. */
export class Standstills {
  private readonly since = new Map<LockState, { at: number; grants: number }>()

  constructor(private readonly disturbances: Disturbances) {}

  look(locks: readonly LockState[], now: number): Standstill[] {
    return locks.flatMap((lock) => {
      const last = this.since.get(lock)
      const workers = new Set([...lock.waiting.values()].map(({ worker }) => worker))
      const wanting = [...workers].filter((worker) => !isJava(worker))
      const isLeft = now - (lock.leftToLeaseUntil ?? Number.NEGATIVE_INFINITY) < JUST_NOW
      const stands = last?.grants === lock.grants && !lock.isInside() && wanting.length > 0 && !isLeft
      if (!last || !stands) {
        this.since.set(lock, { at: now, grants: lock.grants })
        return []
      }
      const limit = (lock.ofSeveral ? SEVERAL_STAND_STILL_AFTER : STANDSTILL_AFTER) + lock.keptForMembers
      const worker = wanting.find((each) => this.disturbances.quiet(each, last.at, now) >= limit)
      if (worker === undefined) return []
      this.since.set(lock, { at: now, grants: lock.grants })
      return { lock, worker, since: last.at }
    })
  }
}
