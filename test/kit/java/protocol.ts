/** The type of lock object the peer gets from its Redisson client. A multi or red lock is named by its locks, with commas. */
export type LockType =
  | 'lock'
  | 'read'
  | 'write'
  | 'fair'
  | 'non-reentrant-fair'
  | 'spin'
  | 'fenced'
  | 'multi'
  | 'group'
  | 'red'
  | 'nonReentrant'

export interface LockChoice {
  /** `lock` unless said otherwise. */
  type?: LockType | undefined
  /** The peer keeps one lock object for a type and name; another tag gets another object. */
  object?: string | undefined
}

export interface LockOptions extends LockChoice {
  /** Milliseconds; absent calls the overload without a lease, which starts the watchdog. */
  leaseTime?: number | undefined
}

export interface TryLockOptions extends LockOptions {
  /** Milliseconds; absent (and no lease) calls `tryLock()`. */
  waitTime?: number | undefined
}

/** A server beside the lock's own, that a test never breaks: what is recorded there can be believed. */
export interface Evidence {
  /** `redis://host:port`. */
  url: string
  /**
   * Gets an entry for each step of a turn: e (want, quit, in, out, lost, free), w (worker), f (thread), l (lock),
   * s (side: x, r or w), n (the thread's turn, from 1), t (CLOCK_MONOTONIC in whole microseconds, the clock of
   * `process.hrtime`), lease (with `leaseTime`, its value);
   * `free` also ok (1 or 0), and `quit` and `free` also err (`class: message`) when the call on the lock threw.
   */
  stream: string
  /** Who this peer is in the entries. */
  worker: string
  /** What the lock is called in the entries. */
  lock: string
}

export interface ContendOptions extends TryLockOptions {
  /** How many Java threads; 1 unless said otherwise. */
  threads?: number | undefined
  /** Ends after this time, or after `sections`, whichever comes first; one of them is needed. */
  durationMs?: number | undefined
  /** Sections in all, not for each thread. */
  sections?: number | undefined
  /** How long each section lasts: milliseconds, or a range to choose from at random. */
  holdMs?: number | readonly [min: number, max: number] | undefined
  /** With `longHoldEvery`: how long about one in so many sections lasts instead. */
  longHoldMs?: number | readonly [min: number, max: number] | undefined
  longHoldEvery?: number | undefined
  /** How long a thread stays away between its sections: milliseconds, or a range; not at all unless said otherwise. */
  pauseMs?: number | readonly [min: number, max: number] | undefined
  /** A plain key that each section reads and writes back one higher, deliberately without INCR. */
  counterKey?: string | undefined
  /**
   * A second one, always equal to the first: sections of type `read` read the first when they begin and this
   * one when they end, all others write the first when they begin and this one when they end.
   */
  twinKey?: string | undefined
  /**
   * A stream that gets one entry (who, thread, threadId, type, event, waitMs) at each end of a section; at the
   * end of one that read a record of two keys with what it found (first, second).
   */
  logStream?: string | undefined
  /**
   * Records and counts there, instead of in the keys above. A section that finds its lock lost writes no count.
   * What the lock throws is in the entries then; `errors` of the report has only what went wrong with the evidence.
   */
  evidence?: Evidence | undefined
}

export interface ContentionReport {
  sections: number
  /** Only with `waitTime`: tries that ran out of it. */
  timeouts: number
  errorCount: number
  /** The first twenty, as `class: message`. */
  errors: string[]
  p50: number
  p99: number
  max: number
  waitsMs: number[]
}

export interface JavaMethod {
  name: string
  parameters: string[]
  returns: string
  declaredBy: string
}

/** When the peer answered, by its clock, and how long the call took in Java. */
export interface Timing {
  /** Milliseconds since the epoch, with a fraction. */
  at: number
  tookMs: number
}

export interface Answer<T> extends Timing {
  value: T
}

export type Fields = Record<string, unknown>

/** What the Java side threw. */
export class JavaError extends Error {
  override readonly name = 'JavaError'

  constructor(
    /** The fully qualified class, e.g. `java.lang.IllegalMonitorStateException`. */
    readonly javaClass: string,
    message: string,
  ) {
    super(`${javaClass}: ${message}`)
  }
}
