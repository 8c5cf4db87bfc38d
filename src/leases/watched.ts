import type { Lease } from './lease'

/** What the watchdog knows of one lease. It alone changes this. */
export class Watched {
  /** Its renewals fail, and the client has reported that. */
  isFailing = false
  /**
   * A call for several leases failed because of a key, perhaps of another one: it is renewed by itself until
   * that succeeds.
   */
  isAlone = false
  /** A renewal that was sent by then, in ms by the monotonic clock, is too old: another one follows it. */
  staleUntil = Number.NEGATIVE_INFINITY

  /**
   * `phase`:
   *
   * - `expiring`: it waits for its deadline: no level of it needs the watchdog, or the server keeps it until
   *   its limit
   * - `scheduled`: it is renewed when its action is due
   * - `inFlight`: a renewal was sent; it is overdue when its action is due
   */
  constructor(
    readonly lease: Lease,
    public phase: 'expiring' | 'scheduled' | 'inFlight',
  ) {}
}
