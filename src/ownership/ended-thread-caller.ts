import { type Caller, tableOf, UNSCOPED } from './caller'
import type { LogicalThread } from './logical-thread'
import type { AnyHold } from './owned-hold'

/**
 * Code of a thread that has ended, such as its timers. Its `unlock()` ends only what code of this thread
 * acquired.
 */
export function endedThreadCaller<H extends AnyHold>(client: object, thread: LogicalThread): Caller<H> {
  const table = tableOf<H>(client, thread)
  return {
    ...UNSCOPED,
    description: 'this logical thread, which has ended,',
    thread,
    // An acquisition in flight may wait for the very level that its `unlock()` is to end.
    settled: (objectId) => (table.get(objectId)?.bare.isEmpty ? table.get(objectId)?.settled() : undefined),
    bareLevels: (objectId) => table.getOrCreate(objectId).bare,
    bareLevel: (objectId) => table.get(objectId)?.bare.owedFirst(),
  }
}
