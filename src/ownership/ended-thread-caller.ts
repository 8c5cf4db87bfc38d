import { type Bare, TIME_LEFT } from './bare-levels'
import { type Caller, tableOf, UNSCOPED } from './caller'
import type { LogicalThread } from './logical-thread'
import type { AnyHold, LevelOf } from './owned-hold'

/** Code of a thread that has ended, such as its timers. Its `unlock()` ends only what code of this thread acquired. */
export function endedThreadCaller<H extends AnyHold>(client: object, thread: LogicalThread): Caller<H> {
  const table = tableOf<H>(client, thread)
  // What it acquires from now on is its own, and not that of the `threadId` of its withLock().
  const entriesOf = (objectId: string) => [table.get(objectId, true), table.get(objectId)]
  const isOfThread = (level: LevelOf<H>) => level.thread === thread
  return {
    ...UNSCOPED,
    description: 'this logical thread, which has ended,',
    thread,
    // An acquisition in flight may wait for the very level that its `unlock()` is to end.
    settled: (objectId) => {
      const hasLevel = entriesOf(objectId).some((entry) => [...(entry?.bare ?? [])].some(isOfThread))
      return hasLevel ? undefined : table.get(objectId)?.settled()
    },
    bareLevels: (objectId) => table.getOrCreate(objectId, true).bare,
    bareLevel: (objectId) => {
      const found = entriesOf(objectId).flatMap((entry) => entry?.bare.endedFirst(isOfThread) ?? [])
      const timeLeft = ({ level }: Bare<LevelOf<H>>) => level?.[TIME_LEFT] ?? 0
      return found.reduce((one, other) => (timeLeft(other) < timeLeft(one) ? other : one), found[0]!)
    },
  }
}
