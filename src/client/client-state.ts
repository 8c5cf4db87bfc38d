import type { HeldLock, WaitingCaller } from '../api/client-state'
import type { Lease } from '../leases/lease'
import type { Clock } from '../util/clock'
import type { WaitQueues } from '../waiting/wait-queues'

export function holdsOf(leases: Iterable<Lease>, clock: Clock): HeldLock[] {
  return Array.from(leases, (lease) => ({
    kind: lease.leased.kind,
    lockName: lease.leased.name,
    owner: lease.owner,
    heldFor: Math.round(clock.elapsedSince(lease.book.acquired)),
    remaining: Math.round(lease.book.remaining()),
    isRenewed: lease.needsWatchdog,
  }))
}

export function waitersOf(waiting: ReturnType<WaitQueues['waiting']>, clock: Clock): WaitingCaller[] {
  return Array.from(waiting, ({ target, waiter }) => ({
    subject: target.subject,
    key: target.key,
    waitingFor: Math.round(clock.elapsedSince(waiter.joined)),
    remaining: waiter.attempt.wanted.waitTime === undefined ? undefined : Math.round(waiter.remainingWait),
  }))
}
