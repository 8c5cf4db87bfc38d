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

/** `p:{name}`, or `p:name` where the name has braces of its own. */
export const prefixed = (prefix: string, name: string): string =>
  name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`

export const suffixed = (name: string, suffix: string): string =>
  name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`
