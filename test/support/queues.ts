import type { Redisson } from '../../src/index'
import { waitUntil } from '../servers'

/** Not public, reached into as by `leftIn`. */
interface Insides {
  client: { waiting: { gates: Map<string, { state: string; queue: Iterable<unknown> }> } }
}

/** Resolves when so many wait here for a plain lock and the first sleeps: only then may it be handed to him. */
export async function queueSleeps(redisson: Redisson, key: string, waiters: number): Promise<void> {
  const { gates } = (redisson as unknown as Insides).client.waiting
  await waitUntil(
    `${waiters} wait asleep`,
    () => {
      const gate = gates.get(`lock ${key}`)
      return gate?.state === 'sleeping' && [...gate.queue].length === waiters
    },
    10_000,
    5,
  )
}
