/** The options of one acquisition. */
export interface AcquireOptions {
  /** In ms; undefined: the watchdog renews the lease while the level lasts. */
  readonly leaseTime: number | undefined
  /** In ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
}
