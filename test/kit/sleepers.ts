// biome-ignore-all lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
import type { Redisson } from '../../src/index'
import { internalsOf } from './internals'
import { waitUntil } from './servers/index'

/** How many callers of a client wait for an object, and whether the first of them sleeps until it is notified. */
export function waitingIn(redisson: Redisson, objectId: string): { waiting: number; isAsleep: boolean } {
  const queue = internalsOf(redisson).queues['queues'].get(objectId)
  if (!queue) return { waiting: 0, isAsleep: false }
  return {
    waiting: [...queue].length,
    // Before its subscription is confirmed it sleeps as well, and is woken by the confirmation.
    isAsleep: ['sleeping', 'rechecking'].includes(queue['phase']) && queue['isConfirmed'],
  }
}

/** Resolves when so many wait here and the first of them sleeps. `objectId`: `lock name`, `latch name` … */
export async function asleep(redisson: Redisson, objectId: string, waiters = 1): Promise<void> {
  await waitUntil(
    `${waiters} wait asleep for ${objectId}`,
    () => {
      const { waiting, isAsleep } = waitingIn(redisson, objectId)
      return isAsleep && waiting === waiters
    },
    10_000,
    5,
  )
}
