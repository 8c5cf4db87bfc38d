import type { Redisson } from '../../src/index'
import { queueOf } from './internals'
import { waitUntil } from './servers/index'

/** Resolves when so many wait here for a plain lock and the first sleeps: only then may the lock be handed to it. */
export async function queueSleeps(redisson: Redisson, key: string, waiters: number): Promise<void> {
  await waitUntil(
    `${waiters} wait asleep`,
    () => {
      // Before its subscription is confirmed it sleeps as well, and is woken by the confirmation.
      const { waiting, isAsleep } = queueOf(redisson, `lock ${key}`)
      return isAsleep && waiting === waiters
    },
    10_000,
    5,
  )
}
