import type { LogicalThread } from './logical-thread'

interface Owned {
  readonly thread: LogicalThread | undefined
}

/** How many ended holds a lock object keeps. The list is bounded, because some callers never call `unlock()`. */
const REMEMBERED = 100

/**
 * The holds that callers without a scope took through one lock object by `lock()` or `tryLock()`.
 *
 * `unlock()` settles lost holds before live holds. A caller that lost its hold may call `unlock()` late: it must not free
 * the lock that another caller took through the same object since.
 */
export class UnscopedHolds<H extends Owned> {
  private readonly live: H[] = []
  private readonly ended: H[] = []
  private forgotten = 0

  add(hold: H): void {
    this.live.push(hold)
  }

  /**
   * Removes the hold that an `unlock()` settles, and returns it. `isLive` reads the clock. Code of an ended thread settles
   * only the holds which that thread took.
   */
  take(isLive: (hold: H) => boolean, endedThread: LogicalThread | undefined): H | 'forgotten' | undefined {
    this.sort(isLive)
    const ended = removeFirst(this.ended, endedThread)
    if (ended) return ended
    if (this.forgotten > 0 && !endedThread) {
      this.forgotten--
      return 'forgotten'
    }
    return removeFirst(this.live, endedThread)
  }

  /** The live hold that the next `unlock()` would release; undefined if it would release none. */
  peek(isLive: (hold: H) => boolean, endedThread: LogicalThread | undefined): H | undefined {
    this.sort(isLive)
    const mayTake = ({ thread }: H) => !endedThread || thread === endedThread
    if (this.ended.some(mayTake) || (this.forgotten > 0 && !endedThread)) return undefined
    return this.live.find(mayTake)
  }

  private sort(isLive: (hold: H) => boolean) {
    for (let index = this.live.length - 1; index >= 0; index--) {
      const hold = this.live[index]!
      if (isLive(hold)) continue
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
function removeFirst<H extends Owned>(holds: H[], owner: LogicalThread | undefined): H | undefined {
  if (!owner) return holds.shift()
  const index = holds.findIndex((hold) => hold.thread === owner)
  return index < 0 ? undefined : holds.splice(index, 1)[0]
}
