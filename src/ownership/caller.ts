import { Mutex } from 'async-mutex'
import type { LogicalThread } from './logical-thread'

/** The part of a hold that this folder needs. The engine above defines the rest. */
export interface OwnedHold {
  readonly objectId: string
  readonly levels: Iterable<{ readonly thread: object | undefined }>
  /** The logical thread that acquired it; undefined for a caller without one. */
  thread: LogicalThread | undefined
  /** For messages. */
  readonly holder: string
  /** Whether it is held, as far as this client knows. Reads the clock. */
  checkLive(): boolean
}

/** The state of one caller and one lock. The table drops it as soon as the caller neither holds nor acquires the lock. */
export class HoldEntry<H extends OwnedHold = OwnedHold> {
  hold: H | undefined
  /** Locked while an acquisition of its caller is in flight. */
  private acquiring: Mutex | undefined

  constructor(
    private readonly table: HoldTable<H>,
    private readonly key: string,
  ) {}

  /** Nothing needs it any more. */
  get isEmpty(): boolean {
    return !this.hold && !this.acquiring
  }

  /** Begins an acquisition. False: one is in flight, and a caller has one acquisition of a lock at a time. */
  begin(): boolean {
    if (this.acquiring) return false
    this.acquiring = new Mutex()
    // The mutex is new, so this locks it at once.
    void this.acquiring.acquire()
    return true
  }

  /** The acquisition is over. */
  end(): void {
    this.acquiring!.release()
    this.acquiring = undefined
    this.table.tidy(this.key)
  }

  /** Resolves when no acquisition is in flight; undefined if there is none. */
  settled(): Promise<void> | undefined {
    return this.acquiring?.waitForUnlock()
  }

  /** The hold has expired: its caller can acquire again, and its late `unlock()` still finds it. */
  retire(hold: H): void {
    if (this.hold !== hold) return
    this.forget(hold)
    this.table.retire(this.key, hold)
  }

  /** Its caller has released all of the hold. */
  forget(hold: H): void {
    if (this.hold === hold) this.hold = undefined
    this.table.tidy(this.key, hold)
  }
}

/** For how many locks a table keeps expired holds, so that their late `unlock()` reports the loss; and how many of one lock. */
const MAX_EXPIRED_REMEMBERED = 1_000
const MAX_EXPIRED_OF_ONE_LOCK = 100

/** The entries of one caller, or of several callers under different keys. */
export class HoldTable<H extends OwnedHold = OwnedHold> {
  private readonly entries = new Map<string, HoldEntry<H>>()
  /** Holds whose lease has ended, and which `unlock()` has not settled, in the order in which they ended. */
  private readonly expired = new Map<string, H[]>()

  get size(): number {
    return this.entries.size + this.expired.size
  }

  get(key: string): HoldEntry<H> | undefined {
    return this.entries.get(key)
  }

  getOrCreate(key: string): HoldEntry<H> {
    let entry = this.entries.get(key)
    if (!entry) {
      entry = new HoldEntry(this, key)
      this.entries.set(key, entry)
    }
    return entry
  }

  /** The hold that expired last, of those that no `unlock()` has settled, and that this function is true of. */
  lastExpired(key: string, isWanted: (hold: H) => boolean = () => true): H | undefined {
    return this.expired.get(key)?.findLast(isWanted)
  }

  retire(key: string, hold: H): void {
    const { expired } = this
    expired.set(key, [...(expired.get(key) ?? []), hold].slice(-MAX_EXPIRED_OF_ONE_LOCK))
    if (expired.size > MAX_EXPIRED_REMEMBERED) expired.delete(expired.keys().next().value!)
  }

  /** Drops the entry if it is empty, and this hold if it has expired. */
  tidy(key: string, ended?: H): void {
    if (this.entries.get(key)?.isEmpty) this.entries.delete(key)
    const others = ended && this.expired.get(key)?.filter((each) => each !== ended)
    if (others?.length === 0) this.expired.delete(key)
    else if (others) this.expired.set(key, others)
  }
}

/**
 * The caller of a lock's operations: an explicit thread id, a logical thread, or code without a scope. A caller has one
 * count for each client and lock, whatever lock object it uses. `H` is the type of hold that the engine above stores; one
 * client stores one type.
 */
export interface Caller<H extends OwnedHold = OwnedHold> {
  /** For messages. */
  readonly description: string
  /** The caller's logical thread; undefined for an explicit caller and for code without a scope. */
  readonly thread: LogicalThread | undefined
  /** The entry for an acquisition of this caller; undefined where each acquisition is an owner of its own. */
  entryToAcquire(objectId: string): HoldEntry<H> | undefined
  /** Resolves when no acquisition of this caller is in flight; undefined if there is none. */
  settled(objectId: string): Promise<void> | undefined
  /** The hold of this caller or, for a thread, of its nearest ancestor that has one. */
  holdOf(objectId: string): H | undefined
  /** The hold that an `unlock()` settles: also one whose lease has ended, if it is nearer to the caller than a live one. */
  holdToRelease(objectId: string): H | undefined
  /** The threads below the owner of this hold, down to this caller; none for a hold of its own. */
  pathBelow(hold: H): readonly LogicalThread[]
}

const NO_PATH: readonly LogicalThread[] = []

/** The caller that the `threadId` option names. `table`: the holds of all such callers of one client. */
export function explicitCaller<H extends OwnedHold>(table: HoldTable<H>, threadId: number): Caller<H> {
  const keyOf = (objectId: string) => `${threadId} ${objectId}`
  return {
    description: `threadId ${threadId}`,
    thread: undefined,
    entryToAcquire: (objectId) => table.getOrCreate(keyOf(objectId)),
    settled: (objectId) => table.get(keyOf(objectId))?.settled(),
    holdOf: (objectId) => table.get(keyOf(objectId))?.hold,
    holdToRelease: (objectId) => table.get(keyOf(objectId))?.hold ?? table.lastExpired(keyOf(objectId)),
    pathBelow: () => NO_PATH,
  }
}

/** A logical thread as the caller of one client's locks. */
export class ThreadCaller<H extends OwnedHold> implements Caller<H> {
  constructor(
    private readonly client: object,
    readonly thread: LogicalThread,
  ) {}

  get description(): string {
    return this.thread.isAlive ? 'this logical thread' : 'this logical thread, which has ended,'
  }

  entryToAcquire(objectId: string): HoldEntry<H> {
    let table = this.tableOf(this.thread)
    if (!table) {
      table = new HoldTable<H>()
      this.thread.holdTables.set(this.client, table)
    }
    return table.getOrCreate(objectId)
  }

  settled(objectId: string): Promise<void> | undefined {
    return this.tableOf(this.thread)?.get(objectId)?.settled()
  }

  holdOf(objectId: string): H | undefined {
    return this.find((table) => table.get(objectId)?.hold)
  }

  holdToRelease(objectId: string): H | undefined {
    const live = this.holdOf(objectId)
    // A branch whose lease has ended must not release what its parent has acquired since, also if its level was in a hold of
    // that parent.
    const isOwn = (hold: H) => hasLevelOf(hold, this.thread)
    const expired =
      this.find((table) => table.lastExpired(objectId, isOwn)) ??
      this.find((table) => table.lastExpired(objectId))
    let thread: LogicalThread | undefined = this.thread
    for (; live && expired && thread; thread = thread.parent) {
      const table = this.tableOf(thread)
      if (table?.get(objectId)?.hold === live || hasLevelOf(live, thread)) return live
      if (table?.lastExpired(objectId) === expired || hasLevelOf(expired, thread)) return expired
    }
    return live ?? expired
  }

  pathBelow(hold: H): readonly LogicalThread[] {
    let path = NO_PATH
    let thread: LogicalThread | undefined = this.thread
    for (; thread && this.tableOf(thread)?.get(hold.objectId)?.hold !== hold; thread = thread.parent)
      path = [thread, ...path]
    return path
  }

  /** From now on the thread finds this hold of an explicit caller as its own. */
  adopt(hold: H): void {
    this.entryToAcquire(hold.objectId).hold = hold
  }

  private tableOf(thread: LogicalThread): HoldTable<H> | undefined {
    return thread.holdTables.get(this.client) as HoldTable<H> | undefined
  }

  private find(holdIn: (table: HoldTable<H>) => H | undefined): H | undefined {
    // Code of an ended thread finds only holds of ended threads: its own and those of its ancestors. A thread that is alive
    // does not find the holds of ended ancestors. Both find a hold in which they have a level themselves.
    const { isAlive } = this.thread
    let reaches = true
    for (let thread: LogicalThread | undefined = this.thread; thread; thread = thread.parent) {
      reaches &&= thread.isAlive === isAlive
      const table = this.tableOf(thread)
      const hold = table && holdIn(table)
      if (hold && (reaches || this.isInside(hold))) return hold
    }
    return undefined
  }

  /** Whether this thread has a level of this hold, or an ancestor that is alive or ended as this thread is. */
  private isInside(hold: H): boolean {
    const { isAlive } = this.thread
    let thread: LogicalThread | undefined = this.thread
    for (; thread && thread.isAlive === isAlive; thread = thread.parent)
      if (hasLevelOf(hold, thread)) return true
    return false
  }
}

function hasLevelOf({ levels }: OwnedHold, thread: LogicalThread): boolean {
  for (const level of levels) if (level.thread === thread) return true
  return false
}

/** Code outside any logical thread: every acquisition is an owner of its own. */
export const unscopedCaller: Caller<never> = {
  description: 'an earlier call of this lock object',
  thread: undefined,
  entryToAcquire: () => undefined,
  settled: () => undefined,
  holdOf: () => undefined,
  holdToRelease: () => undefined,
  pathBelow: () => NO_PATH,
}
