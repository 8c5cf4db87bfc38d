import type { Redisson } from '../../src/index'
import { internalsOf } from './internals'
import { waitUntil } from './servers/index'

/** Resolves when so many wait here and the first of them sleeps. `objectId`: `semaphore name`, `latch name` … */
export async function asleep(redisson: Redisson, objectId: string, waiters = 1): Promise<void> {
  await waitUntil(
    `${waiters} wait asleep for ${objectId}`,
    () => {
      const { waiting, isAsleep } = internalsOf(redisson).queues.inspect(objectId)
      return isAsleep && waiting === waiters
    },
    10_000,
    5,
  )
}
