import type { Hold } from './hold'

/** Enough to name them in messages; a lock object used to fire and forget must not grow for ever. */
const REMEMBERED = 100

/**
 * The holds that callers without a scope took through one lock object by `lock()` or `tryLock()`.
 *
 * `unlock()` settles lost ones before live ones: the late finisher of a lost hold must not free the lock
 * that its successor, who shares the object, holds by now.
 */
export class UnscopedHolds {
  private readonly live: Hold[] = []
  private readonly ended: Hold[] = []
  private forgotten = 0

  add(hold: Hold): void {
    this.live.push(hold)
  }

  /** Takes out the hold that an `unlock()` is about. `isLive` looks at the clock. */
  take(isLive: (hold: Hold) => boolean): Hold | 'forgotten' | undefined {
    this.sort(isLive)
    const ended = this.ended.shift()
    if (ended) return ended
    if (this.forgotten > 0) {
      this.forgotten--
      return 'forgotten'
    }
    return this.live.shift()
  }

  /** The live hold that the next `unlock()` would release, if it would release one. */
  peek(isLive: (hold: Hold) => boolean): Hold | undefined {
    this.sort(isLive)
    return this.ended.length + this.forgotten > 0 ? undefined : this.live[0]
  }

  private sort(isLive: (hold: Hold) => boolean) {
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
