import type { Entries } from './entries'
import type { JavaPort } from './port'
import type { Watchdog } from './watchdog'

/** What the objects of one client share. */
export interface JavaContext {
  readonly port: JavaPort
  readonly clientId: string
  readonly lockWatchdogTimeout: number
  readonly fairLockWaitTimeout: number
  readonly entries: Entries
  readonly watchdog: Watchdog
}
