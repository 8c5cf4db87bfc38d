import { Mutex } from 'async-mutex'

/** A branch place, as the sibling branches see it. */
interface Entering {
  readonly reads: boolean
  readonly path: readonly object[]
  /**
   * Whether a thread of its path, from this depth on, has another place in this branch. Then this acquisition must not wait
   * for the branch to leave: it would wait for itself.
   */
  isNested(depth: number, branch: Branch): boolean
  /** The group for which it waited is inside now. */
  advance(): void
}

/** A child of the thread above, with the places that it and its descendants have below the hold. */
export class Branch {
  /** The number of places of the child and its descendants. */
  places = 0
  private children: SiblingBranches | undefined

  constructor(
    readonly siblings: SiblingBranches,
    readonly thread: object,
    readonly group: Group,
  ) {
    group.branches++
  }

  get below(): SiblingBranches {
    this.children ??= new SiblingBranches()
    return this.children
  }
}

/** Branches that are inside together: one branch that may write, or any number of branches that read. */
export class Group {
  isInside = false
  branches = 0
  private waiting: Set<Entering> | undefined

  constructor(public reads: boolean) {}

  wait(entering: Entering): void {
    this.waiting ??= new Set()
    this.waiting.add(entering)
  }

  stopWaiting(entering: Entering): void {
    this.waiting?.delete(entering)
  }

  enter(): void {
    this.isInside = true
    const { waiting } = this
    this.waiting = undefined
    if (waiting) for (const entering of waiting) entering.advance()
  }
}

/** The groups that wait to be inside, first come, first served. It exists as long as a group waits. */
class GroupQueue {
  /** In order of arrival. */
  readonly waiting = new Set<Group>()
  /** The group that is inside holds it. All that wait share one place in its queue: a mutex cannot drop a place again. */
  private readonly mutex = new Mutex()

  constructor(private readonly admit: (group: Group) => void) {
    // For the group that is inside: the mutex is new, so this locks it at once.
    void this.mutex.acquire()
  }

  add(group: Group): void {
    this.waiting.add(group)
    if (this.waiting.size === 1) void this.admitInOrder()
  }

  /** The group inside has left. */
  next(): void {
    this.mutex.release()
  }

  private async admitInOrder() {
    while (this.waiting.size > 0) {
      await this.mutex.acquire()
      const [first] = this.waiting
      if (!first) return
      this.waiting.delete(first)
      this.admit(first)
    }
  }
}

/**
 * The child branches of one thread below one hold. One branch is inside at a time, or several that read. The others wait
 * here, first come, first served.
 */
export class SiblingBranches {
  private readonly branches = new Map<object, Branch>()
  /** A second branch of a thread that reads: it asks to write after the first one has left. */
  private behind: Map<object, Branch> | undefined
  private inside: Group | undefined
  /** The newest group. Readers that come now join it, if it reads. */
  private last: Group | undefined
  /** Created for the first group that has to wait, so that a single branch costs almost nothing. */
  private queue: GroupQueue | undefined

  /**
   * Adds a place to the branch at this depth of the path, and returns the branch. Its group may have to wait. Undefined for
   * a branch that reads together with others and asks to write. It would wait for them, and if one of them asked as well,
   * the two would wait for each other.
   */
  join(entering: Entering, depth: number): Branch | undefined {
    const thread = entering.path[depth]!
    const older = this.branches.get(thread)
    const branch = older ? this.rejoin(older, entering, depth) : this.add(thread, entering.reads)
    if (branch) branch.places++
    return branch
  }

  /** Removes one place. With its last place the branch leaves, and with its last branch the group. */
  leave(branch: Branch): void {
    const { group, thread } = branch
    if (--branch.places > 0) return
    const behind = this.behind?.get(thread)
    if (behind) this.behind!.delete(thread)
    if (!behind) this.branches.delete(thread)
    else if (behind !== branch) this.branches.set(thread, behind)
    if (--group.branches > 0) return
    if (group.isInside) this.leaveInside(group)
    else this.giveUp(group)
  }

  private rejoin(older: Branch, entering: Entering, depth: number): Branch | undefined {
    const { group, thread } = older
    if (!entering.isNested(depth, older)) {
      // An ancestor must not enter before a descendant that waits to write: if it awaited it, both would wait for ever.
      const behind = this.behind?.get(thread)
      if (behind) return behind
      return entering.reads || !group.reads ? older : this.addBehind(thread)
    }
    if (entering.reads || !group.reads) return older
    if (group.branches > 1) return undefined
    group.reads = false
    return older
  }

  private add(thread: object, reads: boolean): Branch {
    const branch = new Branch(this, thread, reads && this.last?.reads ? this.last : this.newGroup(reads))
    this.branches.set(thread, branch)
    return branch
  }

  private addBehind(thread: object): Branch {
    const branch = new Branch(this, thread, this.newGroup(false))
    this.behind ??= new Map()
    this.behind.set(thread, branch)
    return branch
  }

  private newGroup(reads: boolean): Group {
    const group = new Group(reads)
    this.last = group
    if (this.inside || this.queue) {
      this.queue ??= new GroupQueue(this.admit)
      this.queue.add(group)
    } else this.admit(group)
    return group
  }

  private readonly admit = (group: Group) => {
    if (this.queue?.waiting.size === 0) this.queue = undefined
    this.inside = group
    group.enter()
  }

  private leaveInside(group: Group) {
    this.inside = undefined
    if (this.last === group) this.last = undefined
    this.queue?.next()
  }

  private giveUp(group: Group) {
    const { waiting } = this.queue!
    waiting.delete(group)
    if (waiting.size === 0) this.queue = undefined
    if (this.last === group) this.last = [...waiting].at(-1) ?? this.inside
  }
}
