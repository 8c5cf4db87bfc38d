import type { WaitQueueEnvironment, WaitTarget } from './wait-target'
import type { AnyWaiter, GrantedReply } from './waiter'

/** A queue whose waiters a message may grant (`grantedBy` of their policy). */
interface Listening {
  readonly lock: WaitTarget
  readonly environment: WaitQueueEnvironment
  readonly waiters: Iterable<AnyWaiter>
}

/**
 * A message that was published before a waiter came may still arrive. It must not grant this waiter, so the waiter counts
 * only once every earlier message has arrived.
 */
export function catchUp({ lock, environment }: Listening, waiter: AnyWaiter): void {
  if (lock.policy.grantedBy === undefined) return
  environment.whenCaughtUp(lock, () => {
    waiter.isCaughtUp = true
  })
}

/** The message came: grants every waiter that waited when it was published, even if the object has changed since. */
export function grantByMessage({ environment, waiters }: Listening): void {
  const sent = environment.clock.now()
  const value = { granted: true, grant: undefined } as const
  const reply = { value, sent, connectionBroke: false, lateCopyPossible: false, acknowledged: true }
  for (const waiter of [...waiters]) if (waiter.isCaughtUp) waiter.succeed(reply)
}

/** The answer to a try grants every waiter that waited when the try was sent. */
export function grantByReply({ waiters }: Pick<Listening, 'waiters'>, reply: GrantedReply<unknown>): void {
  for (const waiter of [...waiters])
    if (waiter.joined.monotonic <= reply.sent.monotonic) waiter.succeed(reply)
}
