import type { WaitQueueEnvironment, WaitTarget } from './wait-target'
import type { AnyWaiter } from './waiter'

/** Waiters that a message may grant what they wait for (`grantedBy` of their policy). */
interface Listening {
  readonly lock: WaitTarget
  readonly around: WaitQueueEnvironment
  readonly waiters: Iterable<AnyWaiter>
}

/**
 * A message that was published before a waiter came may still be on its way: it says nothing of what this one waits
 * for.
 */
export function catchUp({ lock, around }: Listening, waiter: AnyWaiter): void {
  if (lock.policy.grantedBy === undefined) return
  around.whenCaughtUp(lock, () => {
    waiter.isCaughtUp = true
  })
}

/** The message came: all that waited when it was published are granted, whatever a look would find by now. */
export function grantByMessage({ around, waiters }: Listening): void {
  const sent = around.clock.now()
  const value = { granted: true, grant: undefined } as const
  const reply = { value, sent, connectionBroke: false, lateCopyPossible: false, acknowledged: true }
  for (const waiter of [...waiters]) if (waiter.isCaughtUp) waiter.succeed(reply)
}
