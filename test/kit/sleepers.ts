import type { Redisson } from '../../src/index'
import { waitUntil } from './servers/index'

/** Resolves when so many wait here and the first of them sleeps. `lockId`: `semaphore name`, `latch name` … */
export async function asleep(redisson: Redisson, lockId: string, waiters = 1): Promise<void> {
  await waitUntil(
    `${waiters} wait asleep for ${lockId}`,
    () => {
      const { waiting, isAsleep } = redisson.internals.queues.inspect(lockId)
      return isAsleep && waiting === waiters
    },
    10_000,
    5,
  )
}
