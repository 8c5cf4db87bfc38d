import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { ExplicitCallers } from '../ownership/callers'
import type { Hold, LossReason } from '../ownership/hold'
import type { HoldRegistry } from '../ownership/hold-registry'
import type { LeaseKeeper } from '../renewal/lease-keeper'
import type { Clock } from '../runtime/clock'
import type { WaitingRoom } from '../waiting/waiting-room'
import type { GivingBack } from './giving-back'

/** What the locks of one client share. */
export interface ClientContext {
  readonly clientId: string
  readonly clock: Clock
  readonly lockWatchdogTimeout: number
  /** How long past its wait a call still takes the answer to a try under way, in ms. */
  readonly grace: number
  readonly explicitCallers: ExplicitCallers
  readonly holds: HoldRegistry
  readonly leases: LeaseKeeper
  readonly waiting: WaitingRoom
  readonly givingBack: GivingBack
  /** Throws RedissonShutdownError once shutdown() has been called. */
  assertOpen(): void
  /** Throws RedissonShutdownError once shutdown() has finished. */
  assertNotClosed(): void
  /** Whether the server is out of reach at this moment. */
  isServerAway(): boolean
  /** Tells the listeners of `lockLost`. */
  lockLost(hold: Hold, reason: LossReason, error: LockLostError): void
}

/** Whether the hold is still ours by all that can be known here; ends it if its deadline has passed. */
export function isLive(context: ClientContext, hold: Hold): boolean {
  if (hold.state === 'held' && hold.isPastDeadline) loseHold(context, hold, 'lease')
  return hold.state === 'held'
}

/** Ends a hold that was not released: tells its signal and, unless its explicit lease just ran out, `lockLost`. */
export function loseHold(context: ClientContext, hold: Hold, reason: LossReason): void {
  if (hold.state !== 'held' && hold.state !== 'released') return
  stopKeeping(context, hold)
  hold.lossReason = reason
  const error = lossError(context, hold)
  if (reason === 'lease' && !hold.needsWatchdog && hold.levels.length > 0) {
    hold.end('expired', error)
    hold.place?.table.retire(hold.place.key, hold)
    hold.giveBackRest?.()
    return
  }
  hold.end('lost', error)
  hold.giveBackRest?.()
  // The server told nobody; whoever waits here may enter now.
  if (reason === 'gone') context.waiting.mayBeFree(hold)
  context.lockLost(hold, reason, error)
}

/** Renewal, registry and timers let go of a hold. */
export function stopKeeping(context: ClientContext, hold: Hold): void {
  context.leases.drop(hold)
  context.holds.delete(hold)
}

const EXPLANATIONS: Record<LossReason, string> = {
  lease: 'its lease ran out (of {lease} ms, less a margin)',
  gone: 'the server no longer knows it',
  forced: 'it was released by force',
}

export function lossError(context: ClientContext, hold: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(hold.lockName)} was lost: ${EXPLANATIONS[hold.lossReason ?? 'lease'].replace('{lease}', String(hold.lease))} ` +
      `(client ${context.clientId}, thread id ${hold.threadId}). Somebody else may hold it now: ` +
      'stop working under it, and acquire it anew where needed.',
    hold.lockName,
    hold.threadId,
  )
}

/** The error for a caller that releases what it does not hold. */
export function notHeldError(
  context: ClientContext,
  lockId: string,
  name: string,
  who: string,
): IllegalMonitorStateError {
  const elsewhere = context.holds.first([lockId])
  const hint = elsewhere
    ? `This client does hold it (thread id ${elsewhere.threadId}), but through another lock object, another scope, ` +
      'or a LockHold or withLock() that releases it itself: release it where it was acquired.'
    : 'Whoever acquired it must release it, once.'
  return new IllegalMonitorStateError(
    `The lock ${quote(name)} is not held by ${who} (client ${context.clientId}). ${hint}`,
  )
}

export function quote(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)
}
