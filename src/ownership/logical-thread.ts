import { processState } from './process-state'

/**
 * The counterpart of a Java thread: nested calls of one logical thread re-enter its locks.
 *
 * `redisson.run(fn)` starts a thread, and `withLock(fn)` starts a child of the current one. A thread ends
 * when its `fn` settles. From then on its timers and sockets belong to no thread.
 */
export class LogicalThread {
  /** Until its `fn` has settled. */
  isAlive = true
  /** Its hold table for each client. caller.ts knows their type. */
  readonly holdTables = new Map<object, object>()
  /** Its places below holds of its ancestors. */
  places: Set<{ leave(): void }> | undefined
  /** How many of its children are alive. */
  children = 0

  constructor(readonly parent: LogicalThread | undefined) {
    if (parent) parent.children++
  }

  /** Whether this is a descendant of `ancestor`, and both and all threads between them are alive. */
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

  /** Ends the thread and its places below holds of ancestors. Its holds stay. */
  end(): void {
    this.isAlive = false
    if (this.parent) this.parent.children--
    if (this.places) for (const place of this.places) place.leave()
  }
}

/** The thread whose code is running, whether it has ended or not. */
export const ambientThread = processState.threads.getStore.bind(processState.threads) as () =>
  | LogicalThread
  | undefined

/** A new child of the thread whose code is running; without a parent where no thread is running. */
export function newChildThread(): LogicalThread {
  const thread = ambientThread()
  return new LogicalThread(thread?.isAlive ? thread : undefined)
}

/**
 * Runs `fn` outside any logical thread. Everything of this package that outlives a call must run like this.
 */
export function outsideThreads<T>(fn: () => T): T {
  return processState.threads.getStore() === undefined ? fn() : processState.threads.run(undefined, fn)
}
