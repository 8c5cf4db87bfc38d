import type { LogicalThread } from './logical-thread'
import { type SlotPlace, SlotTable } from './slot-table'

/**
 * Whoever calls a lock's operations: an explicit thread id, a logical thread, or nobody.
 * Its count is kept a client and lock, not a lock object.
 */
export interface Caller {
  /** For messages. */
  readonly description: string
  /** Where this caller acquires; undefined where each acquisition is an owner of its own. */
  placeToAcquire(lockId: string): SlotPlace | undefined
  /** Where the hold is that an operation of this caller is about: its own or, for a thread, an ancestor's. */
  placeOfHold(lockId: string): SlotPlace | undefined
  /** Where a hold of this caller ran out and has not been settled. */
  placeOfExpired(lockId: string): SlotPlace | undefined
}

/** A client's explicit callers: those named by the `threadId` option. */
export class ExplicitCallers {
  private readonly table = new SlotTable()

  caller(threadId: number): Caller {
    const { table } = this
    const place = (lockId: string): SlotPlace => ({ table, key: `${threadId} ${lockId}` })
    const placeIf = (at: SlotPlace, present: boolean) => (present ? at : undefined)
    return {
      description: `threadId ${threadId}`,
      placeToAcquire: place,
      placeOfHold: (lockId) => placeIf(place(lockId), table.get(place(lockId).key)?.hold !== undefined),
      placeOfExpired: (lockId) => placeIf(place(lockId), table.retired(place(lockId).key) !== undefined),
    }
  }
}

/** A logical thread as the caller of one client's locks. */
export class ThreadCaller implements Caller {
  readonly description = 'this logical thread'

  constructor(
    private readonly client: object,
    private readonly thread: LogicalThread,
  ) {}

  placeToAcquire(lockId: string): SlotPlace {
    let table = this.thread.tables.get(this.client)
    if (!table) {
      table = new SlotTable()
      this.thread.tables.set(this.client, table)
    }
    return { table, key: lockId }
  }

  placeOfHold(lockId: string): SlotPlace | undefined {
    return this.find((table) => table.get(lockId)?.hold !== undefined, lockId)
  }

  placeOfExpired(lockId: string): SlotPlace | undefined {
    return this.find((table) => table.retired(lockId) !== undefined, lockId)
  }

  private find(matches: (table: SlotTable) => boolean, key: string): SlotPlace | undefined {
    // What a thread left behind may still release what it holds itself, but no longer reaches the living;
    // nor do the living re-enter what an ancestor that has ended never released.
    const { isAlive } = this.thread
    for (let thread: LogicalThread | undefined = this.thread; thread; thread = thread.parent) {
      if (thread.isAlive !== isAlive) return undefined
      const table = thread.tables.get(this.client)
      if (table && matches(table)) return { table, key }
    }
    return undefined
  }
}

/** Code outside any logical thread: every acquisition is an owner of its own. */
export const nobody: Caller = {
  description: 'code outside any redisson.run()',
  placeToAcquire: () => undefined,
  placeOfHold: () => undefined,
  placeOfExpired: () => undefined,
}
