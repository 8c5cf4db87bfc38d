import type { LogicalThread } from './logical-thread'

interface Owned {
  readonly thread: LogicalThread | undefined
}

/** Enough to name them in messages; a lock object used to fire and forget must not grow for ever. */
const REMEMBERED = 100

/**
 * The holds that callers without a scope took through one lock object by `lock()` or `tryLock()`.
 *
 * `unlock()` settles lost ones before live ones: the late finisher of a lost hold must not free the lock
 * that its successor, who shares the object, holds by now.
 */
export class UnscopedHolds<H extends Owned> {
  private readonly live: H[] = []
  private readonly ended: H[] = []
  private forgotten = 0

  add(hold: H): void {
    this.live.push(hold)
  }

  /**
   * Takes out the hold that an `unlock()` is about. `isLive` looks at the clock. Code that a thread left behind
   * releases no hold but those which that thread took.
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

  /** The live hold that the next `unlock()` would release, if it would release one. */
  peek(isLive: (hold: H) => boolean, endedThread: LogicalThread | undefined): H | undefined {
    this.sort(isLive)
    if (endedThread) {
      const isIts = ({ thread }: H) => thread === endedThread
      return this.ended.some(isIts) ? undefined : this.live.find(isIts)
    }
    return this.ended.length + this.forgotten > 0 ? undefined : this.live[0]
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

/** Removes the first hold, of this owner if one is given. */
function removeFirst<H extends Owned>(holds: H[], owner: LogicalThread | undefined): H | undefined {
  if (!owner) return holds.shift()
  const index = holds.findIndex((hold) => hold.thread === owner)
  return index < 0 ? undefined : holds.splice(index, 1)[0]
}
