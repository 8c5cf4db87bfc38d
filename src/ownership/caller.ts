import { type BareLevels, type HoldEntry, HoldTable, type UnlockTarget } from './hold-table'
import { ambientThread, type LogicalThread } from './logical-thread'
import type { OwnedLevel } from './owned-hold'

/**
 * The caller of a lock's operations, one of four kinds. The first two have a scope: such a caller has one
 * count for each client and lock, whatever lock object it uses. `L` is the type of the levels of its holds:
 * one engine above has one type.
 *
 *   caller              its levels are in the entry of     its `unlock()` ends
 *   ------------------  ---------------------------------  -------------------------------------------------
 *   the threadId        that id, in the client             its newest level, else what it owes
 *   option
 *   a logical thread    the thread                         the same, else the newest level that an ended
 *                                                          thread left in its hold; else the same of the
 *                                                          nearest ancestor that is alive and has one
 *   a thread that has   the thread                         what it owes, else the level whose time is over
 *   ended                                                  first
 *   code without a      none: in a list of the lock        the same
 *   thread              object
 *
 * Those are bare levels: a level of a LockHold or of `withLock` is in no list, and no other call ends it.
 */
export interface Caller<L extends OwnedLevel = OwnedLevel> {
  /** For messages. */
  readonly description: string
  /** The caller's logical thread; undefined for an explicit caller and for code without a thread. */
  readonly thread: LogicalThread | undefined
  /** False: each acquisition is an owner of its own, and nothing distinguishes one call from another. */
  readonly isScoped: boolean
  /** The entry for an acquisition of this caller; undefined for one without a scope. */
  entryToAcquire(objectId: string): HoldEntry<L> | undefined
  /** Resolves when no acquisition of this caller is in flight; undefined if there is none. */
  acquisitionInFlight(objectId: string): Promise<void> | undefined
  /** The hold that it re-enters: its own or, for a thread, that of its nearest ancestor that has one. */
  holdOf(objectId: string): L['hold'] | undefined
  /** Where it keeps what its `lock()` and `tryLock()` acquire, if not in an entry, nor in the lock object. */
  bareLevels?(objectId: string): BareLevels<L>
  /** What its next `unlock()` ends. */
  nextToUnlock(objectId: string, ofObject?: BareLevels<L>): UnlockTarget<L> | undefined
  /** The threads below the owner of this hold, down to this caller; none for a hold of its own. */
  pathBelow(hold: L['hold']): readonly LogicalThread[]
}

/** Who acquires a lock, and where the level belongs that it is granted. */
export interface Acquirer<L extends OwnedLevel> {
  readonly caller: Caller<L>
  /** The entry of its hold; undefined where each acquisition is an owner of its own. */
  readonly entry?: HoldEntry<L> | undefined
  /** Where the level belongs if an `unlock()` has to end it; undefined: its handle alone does. */
  readonly bare?: BareLevels<L> | undefined
}

/** The client of a caller: it keeps the holds of the callers that the `threadId` option names. */
interface ClientOfCallers {
  readonly explicitHolds: HoldTable
}

/** The caller whose code is running. */
export function callerOf<L extends OwnedLevel>(client: ClientOfCallers, explicit?: number): Caller<L> {
  if (explicit !== undefined) return explicitCaller(client.explicitHolds as HoldTable<L>, explicit)
  const thread = ambientThread()
  if (!thread) return unscopedCaller as Caller<L>
  return thread.isAlive ? new ThreadCaller<L>(client, thread) : endedThreadCaller<L>(client, thread)
}

const NO_PATH: readonly LogicalThread[] = []

/** The caller that the `threadId` option names. `table`: the holds of all such callers of one client. */
function explicitCaller<L extends OwnedLevel>(table: HoldTable<L>, threadId: number): Caller<L> {
  const entryOf = (objectId: string) => table.get(`${threadId} ${objectId}`)
  return {
    description: `threadId ${threadId}`,
    thread: undefined,
    isScoped: true,
    entryToAcquire: (objectId) => table.getOrCreate(`${threadId} ${objectId}`),
    acquisitionInFlight: (objectId) => entryOf(objectId)?.acquisitionInFlight(),
    holdOf: (objectId) => entryOf(objectId)?.hold,
    nextToUnlock: (objectId) => entryOf(objectId)?.newestFirst(),
    pathBelow: () => NO_PATH,
  }
}

/** A logical thread that is alive, as the caller of one client's locks. */
export class ThreadCaller<L extends OwnedLevel> implements Caller<L> {
  readonly description = 'this logical thread'
  readonly isScoped = true

  constructor(
    private readonly client: object,
    readonly thread: LogicalThread,
  ) {}

  entryToAcquire(objectId: string): HoldEntry<L> {
    return tableOf<L>(this.client, this.thread).getOrCreate(objectId)
  }

  acquisitionInFlight(objectId: string): Promise<void> | undefined {
    return this.entryOf(this.thread, objectId)?.acquisitionInFlight()
  }

  // A thread that is alive does not find the holds of ended ancestors, unless it, or an ancestor that is
  // alive, is inside.
  holdOf(objectId: string): L['hold'] | undefined {
    let reaches = true
    for (let thread: LogicalThread | undefined = this.thread; thread; thread = thread.parent) {
      reaches &&= thread.isAlive
      const hold = this.entryOf(thread, objectId)?.hold
      if (hold && (reaches || this.isInside(hold))) return hold
    }
    return undefined
  }

  /**
   * A level of this thread, or else of its nearest ancestor that is alive and has one. A level of another
   * branch that is alive is never ended: it keeps the siblings of that branch out.
   */
  nextToUnlock(objectId: string): UnlockTarget<L> | undefined {
    // This thread may have ended since it called `unlock()`, which waited for its `lock()` in flight.
    let thread: LogicalThread | undefined = this.thread
    do {
      const found = this.entryOf(thread, objectId)?.newestFirst()
      if (found) return found
      thread = thread.parent
    } while (thread?.isAlive)
    return undefined
  }

  pathBelow(hold: L['hold']): readonly LogicalThread[] {
    let path = NO_PATH
    let thread: LogicalThread | undefined = this.thread
    for (; thread && this.entryOf(thread, hold.objectId)?.hold !== hold; thread = thread.parent)
      path = [thread, ...path]
    return path
  }

  private entryOf(thread: LogicalThread, objectId: string): HoldEntry<L> | undefined {
    return (thread.holdTables.get(this.client) as HoldTable<L> | undefined)?.get(objectId)
  }

  private isInside(hold: L['hold']): boolean {
    const inside = new Set(Array.from(hold.levels, ({ thread }) => thread))
    let thread: LogicalThread | undefined = this.thread
    while (thread?.isAlive && !inside.has(thread)) thread = thread.parent
    return thread?.isAlive === true
  }
}

/** The table of one client and one thread. */
function tableOf<L extends OwnedLevel>(client: object, thread: LogicalThread): HoldTable<L> {
  let table = thread.holdTables.get(client) as HoldTable<L> | undefined
  if (!table) {
    table = new HoldTable<L>()
    thread.holdTables.set(client, table)
  }
  return table
}

/** Each acquisition is an owner of its own. */
const UNSCOPED = {
  isScoped: false,
  entryToAcquire: () => undefined,
  acquisitionInFlight: () => undefined,
  holdOf: () => undefined,
  pathBelow: () => NO_PATH,
} as const

/**
 * Code of a thread that has ended, such as its timers. Its `unlock()` ends only what code of this thread
 * acquired.
 */
function endedThreadCaller<L extends OwnedLevel>(client: object, thread: LogicalThread): Caller<L> {
  const table = tableOf<L>(client, thread)
  return {
    ...UNSCOPED,
    description: 'this logical thread, which has ended,',
    thread,
    // An acquisition in flight may wait for the very level that its `unlock()` is to end.
    acquisitionInFlight: (objectId) =>
      table.get(objectId)?.bare.owedFirst() ? undefined : table.get(objectId)?.acquisitionInFlight(),
    bareLevels: (objectId) => table.getOrCreate(objectId).bare,
    nextToUnlock: (objectId) => table.get(objectId)?.bare.owedFirst(),
  }
}

/** Code outside any logical thread. */
export const unscopedCaller: Caller = {
  ...UNSCOPED,
  description: 'an earlier call of this lock object',
  thread: undefined,
  nextToUnlock: (_, ofObject) => ofObject?.owedFirst(),
}
