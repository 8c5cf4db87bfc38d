import type { OwnedHold } from './caller'
import type { LogicalThread } from './logical-thread'

/** How many ended holds a lock object keeps. The lists are bounded, because some callers never call `unlock()`. */
const REMEMBERED = 100

/**
 * The holds that callers without a scope took through one lock object by `lock()` or `tryLock()`.
 *
 * `unlock()` settles lost holds before live holds. A caller that lost its hold may call `unlock()` late: it must not free
 * the lock that another caller took through the same object since.
 */
export class UnscopedHolds<H extends OwnedHold> {
  private readonly live: H[] = []
  private readonly ended: H[] = []
  private forgotten = 0
  /** With so many holds, `add` looks which of them have ended. */
  private nextLookAt = REMEMBERED
  /** For each hold, where a `lock()` or `tryLock()` of this object has failed since. */
  readonly failures = new WeakMap<H, string>()
  /** How many calls of this object are acquiring the lock. */
  acquiring = 0

  /** A `lock()` or `tryLock()` of this object failed there. */
  failed(place: string): void {
    for (const hold of this.live) this.failures.set(hold, place)
  }

  add(hold: H): void {
    this.live.push(hold)
    if (this.live.length < this.nextLookAt) return
    this.sort()
    this.nextLookAt = 2 * this.live.length + REMEMBERED
  }

  /**
   * Removes the hold that an `unlock()` settles, and returns it. Code of an ended thread settles only the holds which that
   * thread took.
   */
  take(endedThread: LogicalThread | undefined): H | 'forgotten' | undefined {
    this.sort()
    const ended = removeFirst(this.ended, endedThread)
    if (ended) return ended
    if (this.forgotten > 0 && !endedThread) {
      this.forgotten--
      return 'forgotten'
    }
    return removeFirst(this.live, endedThread)
  }

  /** The live hold that the next `unlock()` would release; undefined if it would release none. */
  peek(endedThread: LogicalThread | undefined): H | undefined {
    this.sort()
    if (this.ended.some((hold) => isOf(hold, endedThread)) || (this.forgotten > 0 && !endedThread))
      return undefined
    return this.liveOf(endedThread)
  }

  /** The first hold that was live at the last look, or the first of this thread. */
  liveOf(endedThread?: LogicalThread): H | undefined {
    return this.live.find((hold) => isOf(hold, endedThread))
  }

  private sort() {
    for (let index = this.live.length - 1; index >= 0; index--) {
      const hold = this.live[index]!
      if (hold.checkLive()) continue
      this.live.splice(index, 1)
      this.ended.push(hold)
    }
    while (this.ended.length > REMEMBERED) {
      this.ended.shift()
      this.forgotten++
    }
  }
}

/** Removes the first hold, or the first hold of this owner. */
function removeFirst<H extends OwnedHold>(holds: H[], owner: LogicalThread | undefined): H | undefined {
  const index = holds.findIndex((hold) => isOf(hold, owner))
  return index < 0 ? undefined : holds.splice(index, 1)[0]
}

function isOf({ thread }: OwnedHold, owner: LogicalThread | undefined): boolean {
  return !owner || thread === owner
}
