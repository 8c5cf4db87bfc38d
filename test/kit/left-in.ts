import type { Redisson } from '../../src/index'
import { internalsOf } from './internals'

/** How much a client still keeps, by what it is; empty when it keeps nothing. A leak shows nowhere else. */
export function leftIn(redisson: Redisson): Record<string, number> {
  return Object.fromEntries(Object.entries(internalsOf(redisson).stats()).filter(([, size]) => size > 0))
}
