/** What the watchdog knows of one lease. */
export interface Watched {
  /**
   * What it does next.
   * - `expiring`: nothing, because no level of the lease needs the watchdog, or the server keeps it until its
   *   limit
   * - `scheduled`: renews it
   * - `inFlight`: awaits the answer to a renewal, and reports it as overdue after an interval, once
   * - `retrying`: renews it again
   */
  phase: 'expiring' | 'scheduled' | 'inFlight' | 'retrying'
  /** Its renewals fail, and the client has reported that. */
  isFailing: boolean
  /**
   * A call for several leases failed because of a key, perhaps of another one: it is renewed by itself until
   * that succeeds.
   */
  isAlone: boolean
  /** The answer to the renewal in flight may be too old: another one follows it. */
  isWantedAgain: boolean
}

export function mayBeRenewed({ phase }: Watched): boolean {
  return phase === 'scheduled' || phase === 'retrying'
}
