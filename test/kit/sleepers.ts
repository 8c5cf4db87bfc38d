import type { Redisson } from '../../src/index'
import { waitUntil } from './servers/index'
import { waitingIn } from './waiting-in'

/** Resolves when so many wait here and the first of them sleeps. `objectId`: `semaphore name`, `latch name` … */
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
