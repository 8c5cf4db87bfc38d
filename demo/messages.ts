/** What the processes of a demo share, and what they tell each other. */

export const NODE_PROCESSES = ['node-1', 'node-2', 'node-3'] as const
export const JAVA_PROCESS = 'java'

/** The keys of one run. */
export interface Keys {
  readonly lock: string
  /** A plain number that each section reads and writes back one higher. */
  readonly counter: string
  /** A stream with an entry at each end of a section, written while the lock is held. */
  readonly log: string
}

/** What the sections of a read-write lock work on besides. */
export interface RecordKeys extends Keys {
  /** Always equal to the counter, for those who may look. */
  readonly twin: string
}

/** What the lock is taken for: a plain one as such, a read-write lock to read or to write. */
export type Side = 'lock' | 'read' | 'write'

/** What each of some callers of a Node process, or threads of a Java process, does over and over. */
export interface Routine {
  readonly side: Side
  /** How many callers or threads do so. */
  readonly times: number
  /** How long a critical section lasts, at random between these. */
  readonly holdMs: readonly [min: number, max: number]
  /** It stays away for up to this long between its turns. */
  readonly pauseMs: number
}

export interface WorkerSetup {
  readonly who: string
  readonly keys: RecordKeys
  readonly routines: readonly Routine[]
  /** Whether it measures its locks for Prometheus. */
  readonly metrics: boolean
}

export type ToWorker = { readonly runForMs: number }
export type FromWorker = { readonly ready: string } | Done

export interface Done {
  readonly done: true
  /** What a scrape would see, where that was asked for. */
  readonly scrape: string | undefined
}
