import type { LogicalThread } from './logical-thread'

/**
 * One acquisition of a descendant below a hold. It ends with its level, its thread or the hold, whichever
 * ends first.
 */
export class BranchPlace {
  state: 'waiting' | 'inside' | 'left' = 'waiting'
  private whenDecided: (() => void) | undefined

  constructor(
    private readonly branches: Branches,
    /** The threads below the holder, down to the one that acquires. */
    readonly path: readonly LogicalThread[],
  ) {}

  /** The thread that acquires. */
  get thread(): LogicalThread {
    return this.path.at(-1)!
  }

  /** For a place that waits: resolves once it does not. */
  decided(): Promise<void> {
    return new Promise((resolve) => {
      this.whenDecided = resolve
    })
  }

  leave(): void {
    if (this.state === 'left') return
    this.thread.places!.delete(this)
    this.decide('left')
    this.branches.remove(this)
  }

  /** It no longer waits. */
  decide(state: 'inside' | 'left'): void {
    this.state = state
    this.whenDecided?.()
  }
}

/**
 * The branches below one hold. One path of the tree of threads is inside at a time. The others wait here in
 * one queue, first come, first served. A branch enters at once if its path contains every thread that is
 * inside: these are its ancestors or itself, and an ancestor may await it.
 */
export class Branches {
  private readonly inside = new Set<BranchPlace>()
  private readonly waiting = new Set<BranchPlace>()

  enter(path: readonly LogicalThread[]): BranchPlace {
    const place = new BranchPlace(this, path)
    place.thread.places ??= new Set()
    place.thread.places.add(place)
    this.waiting.add(place)
    this.admit(place)
    return place
  }

  /** A place has left. */
  remove(place: BranchPlace): void {
    this.waiting.delete(place)
    if (this.inside.delete(place)) for (const next of this.waiting) this.admit(next)
  }

  /** The hold has ended: every place leaves. */
  close(): void {
    for (const place of this.waiting) place.leave()
    for (const place of this.inside) place.leave()
  }

  private admit(place: BranchPlace) {
    for (const { thread } of this.inside) if (!place.path.includes(thread)) return
    this.waiting.delete(place)
    this.inside.add(place)
    place.decide('inside')
  }
}
