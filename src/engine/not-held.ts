import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { Client } from '../client/client'
import type { LossReason } from '../leases/lease'
import type { LeaseBook } from '../leases/lease-book'
import type { Leased } from '../leases/leased'
import { quote } from '../util/quote'

/** For a caller that releases a hold a second time. */
export function releasedAlready(
  { clientId }: Client,
  { lockName, threadId }: Pick<LockHold, 'lockName' | 'threadId'>,
): IllegalMonitorStateError {
  return new IllegalMonitorStateError(
    `This hold on the lock ${quote(lockName)} was released already (client ${clientId}, thread id ` +
      `${threadId}). Release a hold once.`,
  )
}

/** For a caller that releases what it does not hold. */
export function notHeldError(
  client: Client,
  { objectId, name, key }: Pick<Leased, 'objectId' | 'name' | 'key'>,
  caller: string,
  isAcquiring: boolean,
): IllegalMonitorStateError {
  const elsewhere = client.leases.live.first({ key, relatedIds: [objectId] })
  const hint = isAcquiring
    ? 'A lock() or tryLock() of this lock object has not resolved yet: await it before unlock().'
    : elsewhere
      ? `This client does hold it (${elsewhere.holder}), but through another lock object, another scope, ` +
        'or a LockHold or withLock() that releases it itself: release it where it was acquired.'
      : 'The caller that acquired a lock must release it, once.'
  return new IllegalMonitorStateError(
    `The lock ${quote(name)} is not held by ${caller} (client ${client.clientId}). ${hint}`,
  )
}

interface EndedHold {
  readonly client: Client
  readonly leased: Pick<Leased, 'name'>
  readonly threadId: number
  readonly book: LeaseBook
}

/** For the holder of a hold that has ended without a release. */
export function lockLost({ client, leased, threadId, book }: EndedHold, reason?: LossReason): LockLostError {
  const explanations: Record<LossReason, string> = {
    lease: `its lease of ${book.term.lasts} ms, less a margin, ran out`,
    limit: `its maxHoldTime of ${book.maxHoldTime} ms, less a margin, is over`,
    gone: 'the server no longer knows it',
    forced: 'it was released by force',
  }
  const error = new LockLostError(
    `The lock ${quote(leased.name)} was lost: ${explanations[reason ?? 'lease']} (client ` +
      `${client.clientId}, thread id ${threadId}). Another client may hold it now: stop working under it, ` +
      'and acquire it again where needed.',
    leased.name,
    threadId,
  )
  error.reason = reason
  return error
}
