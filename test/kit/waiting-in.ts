// biome-ignore-all lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
import type { Redisson } from '../../src/index'
import { internalsOf } from './internals'

/** How many callers of a client wait for an object, and whether the first of them sleeps until it is notified. */
export function waitingIn(redisson: Redisson, objectId: string): { waiting: number; isAsleep: boolean } {
  const queue = internalsOf(redisson).queues['queues'].get(objectId)
  if (!queue) return { waiting: 0, isAsleep: false }
  return {
    waiting: [...queue.waiters].length,
    isAsleep: ['sleeping', 'polling'].includes(queue['phase']) && queue['isConfirmed'],
  }
}
