/** The options of one acquisition. */
export interface AcquireOptions {
  /** In ms; undefined: the watchdog renews the lease while the level lasts. */
  readonly leaseTime: number | undefined
  /** In ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
}

/** The options with a wait that is this many ms shorter. */
export function remainingOptions(options: AcquireOptions, elapsed: number): AcquireOptions {
  const { waitTime } = options
  return waitTime === undefined ? options : { ...options, waitTime: waitTime - elapsed }
}
