/**
 * What happened in one simulated run, in the order of true virtual time. The world writes it, the judge reads it.
 * All values are plain, so that a history can be stored, split by name and shown.
 */

/** Virtual ms since the run began, by the clock of the world: no client and no server has this clock. */
export type Time = number

export type ObjectKind =
  | 'lock'
  | 'non-reentrant'
  | 'fair'
  | 'non-reentrant-fair'
  | 'fenced'
  | 'spin'
  | 'token'
  | 'read'
  | 'write'
  | 'multi'
  | 'red'
  | 'semaphore'
  | 'permits'
  | 'latch'
  | 'rate-limiter'
  | 'run-once'

/** What a scene lets its callers use. The two sides of a read-write lock have one name. */
export interface SimulatedObject {
  readonly kind: ObjectKind
  readonly name: string
  /** What a multi lock or a red lock consists of. Members of a red lock have one name and servers of their own. */
  readonly members?: readonly SimulatedObject[]
  /** Where it is, if the world has several servers. */
  readonly server?: string
  /** Callers also hold it in ways that the history does not have. */
  readonly isHeldUnseen?: true
  /** Callers without a thread share its lock object: an `unlock()` of one may end what another one has lost. */
  readonly callersAreAlike?: true
}

/**
 * - `acquire`: lock, tryLock, acquire, tryAcquire, the beginning of withLock; permits of a semaphore
 * - `release`: one level, or permits
 * - `force-release`: forceUnlock, and a DEL by a stranger
 * - `set`: trySetPermits, trySetCount. `add`: addPermits, also negative. `drain`, `count-down`, `await`, `delete`
 * - `look`: isLocked, getHoldCount, availablePermits, getCount: changes nothing
 *
 * `runOnce` acquires when its function begins (or answers false), and calls its release when the function ends; its
 * lease is `atLeast`.
 */
export type Operation =
  | 'acquire'
  | 'release'
  | 'force-release'
  | 'set'
  | 'add'
  | 'drain'
  | 'count-down'
  | 'await'
  | 'delete'
  | 'look'

interface At {
  readonly at: Time
}

/** A caller begins an operation. */
export interface Called extends At {
  readonly type: 'call'
  /** Counts the calls of a run. Answers and holds refer to it. */
  readonly id: number
  readonly client: string
  /**
   * The owner: calls with the same `client` and `caller` re-enter each other's holds. An unscoped acquisition is a
   * caller of its own; its release says the same caller.
   */
  readonly caller: string
  readonly object: SimulatedObject
  readonly operation: Operation
  /** The kind of call as the user writes it, for the story: `tryLock`, `withLock`. */
  readonly as?: string | undefined
  /** How long it waits at most. Absent: for ever. 0: one try. */
  readonly wait?: number | undefined
  /** The explicit lease. Absent: the watchdog renews. */
  readonly lease?: number | undefined
  /** `acquire`: its `maxHoldTime`. */
  readonly limit?: number | undefined
  /** Permits, or the count of a latch; 1 where absent. */
  readonly units?: number | undefined
  /** `release`: the call whose hold (or permits) it releases, the outermost one where the hold was re-entered. */
  readonly hold?: number | undefined
}

/** What an operation answered. */
export interface Returned extends At {
  readonly type: 'return'
  readonly id: number
  /** Whether it did what was asked: false is a try that did not acquire, a `set` of what was set. */
  readonly ok: boolean
  /** The fencing token that it drew. */
  readonly token?: number | undefined
  /** What a `look`, a `drain` or a `force-release` answered. */
  readonly value?: number | undefined
  /** `acquire`: its hold was there before, and this is the level (2, 3, …). */
  readonly level?: number | undefined
  /** `acquire`: the owner as Redis has it, or the ids of permits. Matches `KeyChanged.owners`. */
  readonly owners?: readonly string[] | undefined
}

/** An operation rejected. */
export interface Failed extends At {
  readonly type: 'failure'
  readonly id: number
  /** The stable code of the error (`LOCK_LOST`, `REDIS_UNAVAILABLE`), or the name of its class. */
  readonly error: string
  /**
   * Whether the server may have applied it, or may still do so. An acquisition that may be applied is released by its
   * client (guarantee 4). A release that found its hold lost was not applied.
   */
  readonly mayBeApplied: boolean
}

/** From here on the caller knows that it is not inside any more. It ends a hold for the judge. */
export interface Told extends At {
  readonly type: 'told'
  /** The call that acquired. */
  readonly hold: number
  /**
   * `signal` aborted; `isHeld` was false when read; its explicit lease ended by the clock of its client; the event said that the
   * server does not have it, while its release was in flight.
   */
  readonly how: 'signal' | 'not-held' | 'lease' | 'gone'
  /** Which ids of several permits; absent: all. */
  readonly owners?: readonly string[]
}

/**
 * A caller looked (`isHeld`, `signal`), found itself inside and acted on what the lock protects. A client that was
 * suspended is judged by this alone: it may be inside beside another as long as it does nothing.
 */
export interface Acted extends At {
  readonly type: 'act'
  readonly hold: number
}

export interface ClientChanged extends At {
  readonly type: 'client'
  readonly client: string
  readonly peer: 'node' | 'java'
  readonly change: 'created' | 'killed' | 'suspended' | 'resumed' | 'shut-down' | 'closed'
}

/** What docs/guarantees.md allows while a fault lasts and recovers. The judge excuses exactly what is listed here. */
export type Excuse =
  /** The server may forget what it confirmed: holds may overlap, tokens repeat, permits appear, places vanish. */
  | 'data'
  /** A client may lose a hold though its lease had not ended, and is told. */
  | 'loss'
  /** A waiter may come in later. */
  | 'delay'
  /** A fair place may be lost, or be taken later. */
  | 'order'
  /** Operations may fail with the errors of an outage. */
  | 'errors'
  /** The owner was taken out by force: it may be inside until it is told. */
  | 'force'
  /** The wall clock went back, so a client does not see how long its machine slept. */
  | 'set back'

export interface FaultInjected extends At {
  readonly type: 'fault'
  readonly kind: string
  /** When it ends; at `at` where absent. */
  readonly until?: Time
  /** How long after its end its traces may last (reconnects, silence that must be found). */
  readonly recovery: number
  /** Whom it touches; all where absent. */
  readonly clients?: readonly string[]
  readonly server?: string
  /** The server has none of its keys any more from here on. */
  readonly forgets?: true
  /** The server has its keys as they were some ms before. */
  readonly rewinds?: true
  /** Which names it touches; all where absent. */
  readonly names?: readonly string[]
  readonly excuses: readonly Excuse[]
}

/** A fact of the server: what the key of an object holds from now on. Written when it differs from before. */
export interface KeyChanged extends At {
  readonly type: 'key'
  readonly server?: string | undefined
  /** The name of the object. */
  readonly name: string
  /** The command that changed it, of a client of the package or of Java. Absent: a stranger, or it ran out. */
  readonly by?: readonly string[] | undefined
  /**
   * Who holds it, as Redis has it (fields of a hash, a token, ids of permits): empty where a lock is free. A read-write
   * lock: `mode` is left out, a write field ends in `:write`.
   */
  readonly owners: readonly string[]
  /** The value of a counter: free permits, or what a latch has left. Absent: the key is absent. */
  readonly value?: number | undefined
  /** The queue of a fair lock, first waiter first. */
  readonly queue?: readonly string[] | undefined
  /** Its key ran out, no command removed it. */
  readonly expired?: true | undefined
  /**
   * `expired`: until when a waiter may sleep that read the TTL earlier. Since then an inner level was released, which made the lease
   * shorter, or another owner took the lock with a shorter one and let it run out. Nothing tells the waiter of that.
   */
  readonly ttlSaid?: Time | undefined
}

/** A fact of the server: it refused a lock to the owner that has it. An earlier copy of the same request was granted. */
export interface OwnRefused extends At {
  readonly type: 'own-refused'
  readonly name: string
  readonly owner: string
}

/** What is left when all clients have ended and all leases are over. The judge says which of it is a leak. */
export interface Ended extends At {
  readonly type: 'end'
  readonly keys: readonly { readonly server?: string; readonly key: string; readonly ttl: number }[]
  readonly channels: readonly {
    readonly server?: string
    readonly channel: string
    readonly subscribers: number
  }[]
  /** Timers, listeners, names, waiters and holds that a living client still has: from `client.stats()` and the world. */
  readonly clients: readonly { readonly client: string; readonly left: Readonly<Record<string, number>> }[]
}

export type HistoryEvent =
  | Called
  | Returned
  | Failed
  | Told
  | Acted
  | ClientChanged
  | FaultInjected
  | KeyChanged
  | OwnRefused
  | Ended

/** One run: `at` never decreases; events of one instant stand in the order in which they happened. */
export interface History {
  readonly scene: string
  readonly seed: number
  readonly objects: readonly SimulatedObject[]
  readonly events: readonly HistoryEvent[]
  /** Of a run in real time: keys were looked at now and then, so most of their changes are missing. */
  readonly areKeysLookedAt?: true
  /** What bounds are derived from: settings of the clients, delays of the links. */
  readonly limits: Limits
}

/** The times of the world on which the bounds of the judge depend, in ms. */
export interface Limits {
  /** The longest delay of a message in one direction, with no fault. */
  readonly latency: number
  /** `lockWatchdogTimeout` of every client. */
  readonly watchdogTimeout: number
  /** The longest explicit lease of the scene. */
  readonly longestLease: number
  /** How fast or slow the clock of a client goes, as a fraction: 0.01 is one percent. */
  readonly drift: number
}
