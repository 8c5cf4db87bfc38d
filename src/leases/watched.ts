import type { Lease } from './lease'

/** What the watchdog knows of one lease. */
export interface Watched {
  readonly lease: Lease
  /**
   * - `expiring`: it waits for its deadline: no level of it needs the watchdog, or the server keeps it until
   *   its limit
   * - `scheduled`: it is renewed when its action is due
   * - `inFlight`: a renewal was sent; it is overdue when its action is due
   */
  phase: 'expiring' | 'scheduled' | 'inFlight'
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
