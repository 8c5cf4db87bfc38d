/**
 * What the driver and a worker, a process that is measured, say to each other: one JSON object a line on the
 * worker's stdin and stdout. A worker in another language speaks the same.
 *
 *   driver  the work
 *   worker  {"ready":true}       connected, and every lock object made
 *   driver  {"start":<epoch ms>} all workers of a measurement get the same
 *   worker  {"result":{...}}     and ends
 *
 * The worker's own log and error messages go to stderr. A worker that cannot do the work says why there and
 * ends with a code other than 0.
 */
export type Work = ThroughputWork

interface AnyWork {
  /** `redis://host:port` */
  readonly redis: string
  readonly subject: string
}

/**
 * From `start` on, each flow acquires and releases its lock as fast as it can, first for the warm-up and then
 * for the measured window. At the end of the window the worker looks at no further section and reports.
 */
export interface ThroughputWork extends AnyWork {
  readonly scenario: 'throughput'
  readonly flows: number
  /** Flow i uses `locks[i % locks.length]`. */
  readonly locks: readonly string[]
  readonly warmupMs: number
  readonly measureMs: number
  /** How long each section lasts; 0: nothing is awaited within it. */
  readonly holdMs: number
}

export interface ThroughputResult {
  /** Acquisitions that ended within the window. */
  readonly sections: number
  /** The same for each flow. */
  readonly perFlow: readonly number[]
  /**
   * How long each of those acquisitions took, in whole microseconds, in any order. An acquisition that still
   * waits when the window ends is in it with the time it has waited so far: a lock that starves somebody must
   * not look good because that wait never ended.
   */
  readonly waitsUs: readonly number[]
  /** When the last section of the window began, in ms since the window's beginning; -1 when there was none. */
  readonly lastSectionAt: number
  /** Acquisitions and releases that failed. The time until one succeeds counts as one wait. */
  readonly errors: number
  /** The first few of them. */
  readonly errorMessages?: readonly string[]
  /** How often somebody entered a lock while another was inside. */
  readonly violations: number
  /** Of the sections: those that one of this process who had asked for the lock later came before. */
  readonly overtaken?: number
}

export interface Results {
  readonly throughput: ThroughputResult
}

export type FromWorker = { readonly ready: true } | { readonly result: unknown }
export type Start = { readonly start: number }
