import { lockArguments } from '../api/arguments'
import type { TimeUnit } from '../api/time-unit'

/** A time to live in ms, as scripts take it; 0: without end. */
export function timeToLive(ttl: number | undefined, unit: TimeUnit | undefined): number {
  if (ttl !== undefined && typeof ttl !== 'number') throw new TypeError('timeToLive must be a number')
  return lockArguments(ttl, unit).leaseTime ?? 0
}
