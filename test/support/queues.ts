import type { Redisson } from '../../src/index'
import { waitUntil } from '../servers'

/** Not public, reached into as by `leftIn`. */
interface Insides {
  client: { waiting: { gates: Map<string, Gate>; isConfirmed(lock: unknown): boolean } }
}

interface Gate {
  readonly lock: unknown
  readonly state: string
  readonly queue: Iterable<unknown>
}

/** Resolves when so many wait here for a plain lock and the first sleeps: only then may it be handed to him. */
export async function queueSleeps(redisson: Redisson, key: string, waiters: number): Promise<void> {
  const { waiting } = (redisson as unknown as Insides).client
  await waitUntil(
    `${waiters} wait asleep`,
    () => {
      const gate = waiting.gates.get(`lock ${key}`)
      // Before its subscription is confirmed it sleeps as well, to be woken by that.
      return (
        gate?.state === 'sleeping' && waiting.isConfirmed(gate.lock) && [...gate.queue].length === waiters
      )
    },
    10_000,
    5,
  )
}
