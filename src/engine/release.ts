import { WrongTypeError } from '../api/errors'
import type { Hold, Level } from './hold'
import type { LockKind } from './lock-kind'
import { NOT_HELD } from './release-reply'

const TRIES_TO_SEE_LEASE = 5

/**
 * Releases a level; with the last level of its hold the lock. If the hold is gone, settles the level and
 * rejects with LockLostError.
 */
export function release(kind: LockKind, level: Level): Promise<void> {
  const { hold } = level
  return hold.runSerially(async () => {
    hold.endLevel(level)
    await (hold.levels.size === 0 ? releaseLast(kind, level) : updateLevels(kind, hold))
  })
}

/**
 * Ends a level in this client and sends nothing. After the last level, the server keeps the lock until its
 * lease ends. Rejects with LockLostError if the hold was lost for another reason than its lease.
 */
export function leaveToLease(level: Level): Promise<void> {
  const { hold } = level
  const leave = async () => {
    hold.endLevel(level)
    // Local waiters need no wake-up: the server answered them how long the lease lasts.
    if (hold.levels.size === 0) hold.leaveToLease()
  }
  return hold.runSerially(leave).catch((error) => {
    if (hold.lossReason !== 'lease') throw error
  })
}

/**
 * Sets count and lease on the server to those that the levels of the hold need. Sends them until it knows
 * what the server has:
 *
 * | the server answers | the hold in this client | the end                            |
 * | ------------------ | ----------------------- | ---------------------------------- |
 * | nothing            |                         | rejects, and the hold is uncertain |
 * | not held           |                         | the hold is lost: LockLostError    |
 * | reduced or freed   |                         | they are set                       |
 * | another lease      | held                    | none: it asks again                |
 * |                    | ended, or this is try 5 | the hold is uncertain              |
 *
 * Where no level needs the watchdog any more and a renewal is in flight, the hold is uncertain before.
 */
export async function updateLevels(kind: LockKind, hold: Hold): Promise<void> {
  const { client, ownerField, levels, book } = hold
  const { leases } = client
  // That renewal may arrive after the release, and then the server keeps the hold beyond its lease.
  if (leases.isRenewing(hold) && !hold.needsWatchdog) hold.becameUncertain()
  for (let tries = 0; tries < TRIES_TO_SEE_LEASE && hold.state === 'held'; tries++) {
    const lease = Math.ceil(hold.leaseForLevels())
    const leaseEnd = book.beginRelease()
    const call = kind.release(ownerField, levels.size, lease, leaseEnd)
    // From now on, until the answer, the longer lease may be gone.
    book.mayShorten(call.started, lease)
    // The remaining levels decide whether the watchdog goes on, whatever the answer is. Their leases may have
    // ended: then their holder learns it before the server has freed the lock.
    if (hold.checkLive()) leases.update(hold)
    const { value, sent } = await hold.answerTo(call, NOT_HELD)
    if (value.result === 'not-held') {
      hold.lose('gone')
      throw hold.lossError()
    }
    if (value.result !== 'other-lease') {
      // After "freed", the leases of the remaining levels have ended, and the next check ends the hold.
      book.partlyReleased(sent, lease, (value.result === 'reduced' && value.leaseEnd) || leaseEnd)
      if (hold.state === 'held') leases.update(hold)
      return
    }
    // A renewal changed the lease, and its answer has not arrived yet. This copy of the release changed
    // nothing.
    book.endsAt(value.leaseEnd)
  }
  // This is no error: the next operation sets the count, or the end of the hold releases it.
  hold.becameUncertain()
}

/**
 * Hands the lock to the next local caller, or frees it for all: the server notifies the waiters. Rejects if
 * the server no longer had the hold.
 */
async function releaseLast(kind: LockKind, { hold, leaseTime }: Level): Promise<void> {
  const { client, ownerField, book } = hold
  const { queues, recentReleases } = client
  const keep = recentReleases?.sending(kind.key)
  hold.beginRelease()
  const handoff = queues.of(kind)?.handOff(ownerField, book.longest)
  const call = handoff ?? kind.release(ownerField, 0, 0, 0)
  // The command is sent first: the client does this while the server works on it.
  hold.unregister()
  let isGone = false
  try {
    const { value, hasLostCopy } = await (handoff?.answer ?? queues.followRelease(kind, call.answer))
    // After a broken connection "not held" means success: an earlier copy of this release was applied.
    isGone = !hasLostCopy && ('granted' in value ? !value.granted : value.result === 'not-held')
  } catch (error) {
    if (!(error instanceof WrongTypeError)) {
      hold.releaseOrphan(book.longest, call.started)
      hold.end('released')
      throw error
    }
    // The key holds something else by now.
    isGone = true
  }
  // A replica may lack this release.
  keep?.(hold.orphan())
  if (!isGone) return hold.end('released')
  // Its explicit lease may have ended on the way.
  hold.lose(leaseTime !== undefined && book.isPastDeadline ? 'lease' : 'gone')
  throw hold.lossError()
}
