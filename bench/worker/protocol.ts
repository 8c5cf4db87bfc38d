/**
 * What the driver and a worker, a process that is measured, say to each other: one JSON object a line on the
 * worker's stdin and stdout. A worker in another language speaks the same.
 *
 *   driver  the work
 *   worker  {"ready":true}       connected
 *   driver  {"start":<epoch ms>} all workers of a measurement get the same
 *   worker  {"result":{...}}     and ends
 *
 * The worker's own log and error messages go to stderr. A worker that cannot do the work says why there and
 * ends with a code other than 0.
 */
export type Work = CallersWork | FirstCyclesWork | HandoffWork | IdleWaitersWork | HeldLocksWork | LatchWork

/** `redis://host:port`: of one server, perhaps with others for the other members of a lock, or of nodes of a cluster. */
export type Address =
  | { readonly redis: string; readonly others?: readonly string[] }
  | { readonly cluster: readonly string[] }

const OBJECTS = ['lock', 'fair', 'fenced', 'non-reentrant', 'token', 'with-lock', 'multi', 'red'] as const
const PERMITS = ['semaphore', 'expirable-semaphore', 'renewed-permits', 'latch'] as const

/** What stands under the names of a work. */
export type ObjectKind = (typeof OBJECTS)[number] | (typeof PERMITS)[number]

/** The one semaphore whose permits are held and renewed. */
export const RENEWED_PERMITS = 'bench:permits'

export type AnyWork = Address & {
  readonly subject: string
  readonly locks: readonly string[]
  /** Plain locks where it is absent. */
  readonly object?: ObjectKind
  /** Each semaphore has so many; the driver has set them. */
  readonly permits?: number
  readonly warmupMs: number
  readonly measureMs: number
}

/**
 * From `start` on, each caller acquires and releases its lock as fast as it can, first for the warm-up and then
 * for the measured window. At the end of the window the worker looks at no further section and reports.
 */
export type CallersWork = AnyWork & {
  readonly callers: number
  /** How long each section lasts; 0: nothing is awaited within it. */
  readonly holdMs: number
} & (
    | { readonly scenario: 'throughput' }
    /**
     * The locks are read-write locks. Turn t of caller i reads where (t + i) % (readers + writers) < readers, and
     * else writes; turns are counted from 0.
     */
    | { readonly scenario: 'read-write'; readonly readers: number; readonly writers: number }
  )

export interface CallersResult {
  /** Acquisitions that ended within the window. */
  readonly sections: number
  /** The same for each caller. Caller i uses `locks[i % locks.length]`. */
  readonly perCaller: readonly number[]
  /** Of each in whole µs, in any order. One that still waits at the end is in it with its time so far, so that no wait without end looks good. */
  readonly waitsUs: readonly number[]
  /** When the last section of the window began, in ms since the window's beginning; -1 when there was none. */
  readonly lastSectionAt: number
  /** Acquisitions and releases that failed. The time until one succeeds counts as one wait. */
  readonly errors: number
  /** The first few of them. */
  readonly errorMessages?: readonly string[]
  /** How often a caller entered a lock while another was inside. */
  readonly violations: number
  /** Sections before which a later caller of this process entered. */
  readonly overtaken: number
  /** Seconds of CPU that the process used in the window; a worker may leave it out. */
  readonly cpuSeconds?: number
}

/** One caller takes and releases the first lock so many times, from its first call on. There is no window. */
export type FirstCyclesWork = AnyWork & { readonly scenario: 'first-cycles'; readonly cycles: number }

export interface FirstCyclesResult {
  readonly seconds: number
  readonly cpuSeconds: number
}

/**
 * Two processes take turns at the first of the locks: acquire, hold for `holdMs`, release, stay away for half of
 * `holdMs`. So each asks while the other holds. The taker begins by staying away.
 */
export type HandoffWork = AnyWork & {
  readonly scenario: 'handoff'
  readonly role: 'holder' | 'taker'
  readonly holdMs: number
  /**
   * Each hold lasts up to so much longer, at random: a subject that polls must not always be found at the same
   * point of its delay. Only for subjects that poll.
   */
  readonly jitterMs?: number
}

/** In ms since the epoch with a fraction; of the turns that began within the window. */
export interface HandoffResult {
  /** Just before each release was called. */
  readonly unlocks: readonly number[]
  /** Just after each acquisition. */
  readonly entries: readonly number[]
}

/**
 * The locks are held by somebody else. Within the warm-up so many callers begin to wait, caller i for
 * `locks[i % locks.length]`; in the window nothing happens.
 */
export type IdleWaitersWork = AnyWork & { readonly scenario: 'idle-waiters'; readonly callers: number }

export interface IdleWaitersResult {
  /** By how much the heap grew with them, after collecting garbage. */
  readonly heapBytes: number
  /** Waits that ended, by success or error, though the lock was held all the time. */
  readonly ended: number
  readonly errorMessages: readonly string[]
}

/** Takes every one of the locks within the warm-up, and holds them all while the subject renews them. */
export type HeldLocksWork = AnyWork & { readonly scenario: 'held-locks' }

export interface HeldLocksResult {
  /** How long it took to take them. */
  readonly takingMs: number
  /** In the window: seconds of CPU, and how late timers were, in ms. */
  readonly cpuSeconds: number
  readonly delayP99Ms: number
  readonly delayMaxMs: number
  readonly heapBytes: number
}

/**
 * The locks are latches. Each caller waits for the first, and when that is open for the next, to the last. The driver opens
 * each when all callers wait for it.
 */
export type LatchWork = AnyWork & { readonly scenario: 'latch'; readonly callers: number }

export interface LatchResult {
  /** When the last caller of this process went on, for each latch: in ms since the epoch with a fraction. */
  readonly last: readonly number[]
}

export interface Results {
  readonly throughput: CallersResult
  readonly 'read-write': CallersResult
  readonly 'first-cycles': FirstCyclesResult
  readonly handoff: HandoffResult
  readonly 'idle-waiters': IdleWaitersResult
  readonly 'held-locks': HeldLocksResult
  readonly latch: LatchResult
}

export type FromWorker = { readonly ready: true } | { readonly result: unknown }
export type Start = { readonly start: number }
