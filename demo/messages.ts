/** What the processes of a demo share, and what they tell each other. */

export const NODE_PROCESSES = ['node-1', 'node-2', 'node-3'] as const
export const JAVA_PROCESS = 'java'
export const JAVA_THREADS = 2

/** How long a critical section lasts, at random between these. */
export const HOLD_MS = [5, 40] as const

/**
 * How long a flow stays away at most between its turns, for each flow of its process. The lock is unfair, as
 * Redisson's is: whoever asks first after a release has it, and a woken JVM asks a little later than a woken
 * Node process. Beside Node flows that asked again at once, Java's threads would seldom get a turn.
 */
export const PAUSE_MS = { besideJava: 200, nodeOnly: 50 } as const

/** The keys of one run. */
export interface Keys {
  readonly lock: string
  /** A plain number that each section reads and writes back one higher. */
  readonly counter: string
  /** A stream with an entry at each end of a section, written while the lock is held. */
  readonly log: string
}

export interface WorkerSetup {
  readonly who: string
  readonly url: string
  readonly keys: Keys
  readonly flows: number
  /** A flow stays away for up to this long between its turns. */
  readonly pauseMs: number
}

export type ToWorker = { readonly runForMs: number }
export type FromWorker = { readonly ready: string } | { readonly done: true }
