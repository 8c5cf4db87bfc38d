import { type Branch, SiblingBranches } from './sibling-branches'

/** A logical thread, as branch places see it. */
interface BranchThread {
  places: Set<BranchPlace> | undefined
}

/**
 * One acquisition of a descendant below a hold. It is inside as soon as each thread on its path down from the holder is
 * inside among its siblings. It ends with its level, with its thread or with the hold, whichever ends first.
 */
export class BranchPlace {
  /** The branches of its path that it has joined so far. */
  private readonly steps: Branch[] = []
  /** `refused`: it asked to write while it reads beside siblings. */
  state: 'waiting' | 'inside' | 'refused' | 'left' = 'waiting'
  private whenDecided: (() => void) | undefined

  constructor(
    private readonly branches: HoldBranches,
    /** The threads below the holder, down to the one that acquires. */
    readonly path: readonly BranchThread[],
    readonly reads: boolean,
  ) {}

  /** Resolves once it no longer waits. */
  decided(): Promise<void> {
    if (this.state !== 'waiting') return Promise.resolve()
    return new Promise((resolve) => {
      this.whenDecided = resolve
    })
  }

  /** Joins the branches of its path, down to the first one that is not inside yet. */
  advance(): void {
    while (this.steps.length < this.path.length) {
      const siblings = this.steps.at(-1)?.below ?? this.branches.top
      const branch = siblings.join(this, this.steps.length)
      if (!branch) return this.decide('refused')
      this.steps.push(branch)
      if (!branch.group.isInside) {
        branch.group.wait(this)
        return
      }
    }
    this.decide('inside')
  }

  isNested(depth: number, branch: Branch): boolean {
    for (const thread of this.path.slice(depth))
      for (const place of thread.places ?? [])
        if (place !== this && place.steps[depth] === branch) return true
    return false
  }

  leave(): void {
    if (this.state === 'left') return
    this.decide('left')
    this.steps.at(-1)?.group.stopWaiting(this)
    for (const branch of this.steps.reverse()) branch.siblings.leave(branch)
    this.path.at(-1)!.places!.delete(this)
    this.branches.places.delete(this)
  }

  private decide(state: 'inside' | 'refused' | 'left') {
    this.state = state
    this.whenDecided?.()
  }
}

/** All places below one hold. */
export class HoldBranches {
  readonly top = new SiblingBranches()
  readonly places = new Set<BranchPlace>()

  enter(path: readonly BranchThread[], reads: boolean): BranchPlace {
    const place = new BranchPlace(this, path, reads)
    this.places.add(place)
    const thread = path.at(-1)!
    thread.places ??= new Set()
    thread.places.add(place)
    place.advance()
    return place
  }

  /** The hold has ended: every place leaves. */
  close(): void {
    for (const place of this.places) place.leave()
  }
}
