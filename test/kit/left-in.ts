import type { Redisson } from '../../src/index'

/** How much a client still keeps, by what it is; empty when it keeps nothing. A leak shows nowhere else. */
export function leftIn(redisson: Redisson): Record<string, number> {
  return Object.fromEntries(Object.entries(redisson.internals.stats()).filter(([, size]) => size > 0))
}
