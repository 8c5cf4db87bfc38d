import { processState } from './process-state'
import type { SlotTable } from './slot-table'

/**
 * What a thread is to Java: the identity under which nested calls re-enter their own locks.
 *
 * `redisson.run(fn)` starts one, `withLock(fn)` opens a child of the current one. It ends when its `fn`
 * settles; a timer or socket left behind belongs to nobody from then on.
 */
export class LogicalThread {
  private ended = false
  /** What this thread holds or is acquiring through each client. */
  readonly tables = new Map<object, SlotTable>()

  constructor(readonly parent: LogicalThread | undefined) {}

  get isAlive(): boolean {
    return !this.ended
  }

  /** Runs `fn` as this thread and ends the thread when `fn` has settled. */
  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    try {
      return await processState.threads.run(this, fn)
    } finally {
      this.ended = true
    }
  }
}

/** The thread whose code is running, whether it has ended or not. */
export function ambientThread(): LogicalThread | undefined {
  return processState.threads.getStore()
}

/** Runs `fn` outside any logical thread, as everything of ours that outlives a call must run. */
export function outsideThreads<T>(fn: () => T): T {
  return processState.threads.getStore() === undefined ? fn() : processState.threads.run(undefined, fn)
}
