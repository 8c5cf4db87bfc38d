import type { Redisson } from '../../src/index'
import { queueOf } from './internals'
import { waitUntil } from './servers/index'

/** Resolves when so many wait here and the first of them sleeps. `objectId`: `semaphore name`, `latch name` … */
export async function asleep(redisson: Redisson, objectId: string, waiters = 1): Promise<void> {
  await waitUntil(
    `${waiters} wait asleep for ${objectId}`,
    () => {
      const { waiting, isAsleep } = queueOf(redisson, objectId)
      return isAsleep && waiting === waiters
    },
    10_000,
    5,
  )
}
