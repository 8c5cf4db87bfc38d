import { type AnyWaiter, type GrantedReply, unasked, type WaitersOfLock } from './waiter'

/**
 * A message that was published before a waiter came may still arrive. It must not grant this waiter, so the waiter counts
 * only once every earlier message has arrived.
 */
export function catchUp({ lock, environment }: WaitersOfLock, waiter: AnyWaiter): void {
  if (lock.policy.grantedBy === undefined) return
  environment.whenCaughtUp(lock, () => {
    waiter.isCaughtUp = true
  })
}

/** The message came: grants every waiter that waited when it was published, even if the object has changed since. */
export function grantByMessage({ environment, waiters }: WaitersOfLock): void {
  const reply = unasked(environment.clock)
  for (const waiter of [...waiters]) if (waiter.isCaughtUp) waiter.succeed(reply)
}

/** The answer to a try grants every waiter that waited when the try was sent. */
export function grantByReply({ waiters }: WaitersOfLock, reply: GrantedReply<unknown>): void {
  for (const waiter of [...waiters])
    if (waiter.joined.monotonic <= reply.sent.monotonic) waiter.succeed(reply)
}
