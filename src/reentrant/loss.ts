import { LockLostError } from '../api/errors'
import type { Context } from '../client/context'
import type { LossReason } from '../leases/lease'
import { quote } from '../util/quote'
import type { Hold } from './hold'

/**
 * Ends a hold that was not released. Aborts its signal, and emits `lockLost` unless its explicit lease just ended.
 */
export function loseHold(context: Context, hold: Hold, reason: LossReason): void {
  if (hold.state !== 'held' && hold.state !== 'released') return
  context.leases.end(hold)
  hold.lossReason = reason
  hold.releaseLateCopyOnce()
  const error = lossError(context, hold)
  if (reason === 'lease' && !hold.needsWatchdog && hold.levels.length > 0) {
    hold.end('expired', error)
    hold.ref?.table.retire(hold.ref.key, hold)
    hold.releaseOrphan?.()
    return
  }
  hold.end('lost', error)
  hold.releaseOrphan?.()
  // The server notified no client; local waiters may be able to enter now.
  if (reason === 'gone') context.queues.mayBeFree(hold)
  const { lockName, kind, owner, threadId } = hold
  context.events.emit('lockLost', { lockName, kind, owner, threadId, reason, error })
}

const EXPLANATIONS: Record<LossReason, string> = {
  lease: 'its lease of {lease} ms, less a margin, ran out',
  gone: 'the server no longer knows it',
  forced: 'it was released by force',
}

/** For a caller whose hold has ended without a release. */
export function lossError(context: Context, hold: Hold): LockLostError {
  const explanation = EXPLANATIONS[hold.lossReason ?? 'lease'].replace('{lease}', String(hold.lease))
  return new LockLostError(
    `The lock ${quote(hold.lockName)} was lost: ${explanation} ` +
      `(client ${context.clientId}, thread id ${hold.threadId}). Another client may hold it now: ` +
      'stop working under it, and acquire it again where needed.',
    hold.lockName,
    hold.threadId,
  )
}
