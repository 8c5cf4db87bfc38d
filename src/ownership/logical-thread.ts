import type { BranchPlace } from './branch-place'
import type { HoldTable } from './hold-table'
import type { OwnedHold } from './owned-hold'
import { processState } from './process-state'

/**
 * What a thread is to Java: the identity under which nested calls re-enter their own locks.
 *
 * `redisson.run(fn)` starts one, `withLock(fn)` opens a child of the current one. It ends when its `fn`
 * settles; a timer or socket left behind belongs to no thread from then on.
 */
export class LogicalThread {
  private ended = false
  private readonly holdTables = new Map<object, HoldTable>()
  /** Its places below holds of its ancestors. */
  places: Set<BranchPlace> | undefined
  private children = 0

  constructor(readonly parent: LogicalThread | undefined) {
    if (parent) parent.children++
  }

  /** What this thread holds or is acquiring through each client. `H` is what the engine above stores as a hold. */
  tables<H extends OwnedHold>(): Map<object, HoldTable<H>> {
    return this.holdTables as Map<object, HoldTable<H>>
  }

  get isAlive(): boolean {
    return !this.ended
  }

  /** Whether a thread opened within it has not ended. */
  get hasChildren(): boolean {
    return this.children > 0
  }

  /** Whether this is a descendant through threads that have not ended. */
  isBelow(ancestor: LogicalThread): boolean {
    for (let thread: LogicalThread = this; thread.isAlive && thread.parent; thread = thread.parent)
      if (thread.parent === ancestor) return ancestor.isAlive
    return false
  }

  /** Runs `fn` as this thread and ends the thread when `fn` has settled. */
  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    try {
      return await processState.threads.run(this, fn)
    } finally {
      this.end()
    }
  }

  /** Its places end with it, whatever it holds. */
  end(): void {
    if (this.ended) return
    this.ended = true
    if (this.parent) this.parent.children--
    if (this.places) for (const place of this.places) place.leave()
  }
}

/** The thread whose code is running, whether it has ended or not. */
export function ambientThread(): LogicalThread | undefined {
  return processState.threads.getStore() as LogicalThread | undefined
}

/** A new child of the thread whose code is running; without a parent where no thread is running. */
export function newChildThread(): LogicalThread {
  const thread = ambientThread()
  return new LogicalThread(thread?.isAlive ? thread : undefined)
}

/** Runs `fn` outside any logical thread, as everything of ours that outlives a call must run. */
export function outsideThreads<T>(fn: () => T): T {
  return processState.threads.getStore() === undefined ? fn() : processState.threads.run(undefined, fn)
}
