/** How a lock is to be acquired. */
export interface AcquireOptions {
  /** ms, or undefined: the watchdog renews while the level lasts. */
  readonly leaseTime: number | undefined
  /** ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
}
