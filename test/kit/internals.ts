import type { Client } from '../../src/client/client'
import type { Redisson } from '../../src/index'

/** The client beneath. */
export function internalsOf(redisson: Redisson): Client {
  return (redisson as unknown as { readonly client: Client }).client
}

/** How many wait here, and whether the first of them sleeps until it is notified. `objectId`: `lock name`, `latch name` … */
export function queueOf(redisson: Redisson, objectId: string): { waiting: number; isAsleep: boolean } {
  const queue = internalsOf(redisson).queues.of({ objectId })
  if (!queue) return { waiting: 0, isAsleep: false }
  const { state, isConfirmed } = queue as unknown as { readonly state: string; readonly isConfirmed: boolean }
  return { waiting: [...queue.waiters].length, isAsleep: state === 'sleeping' && isConfirmed }
}
