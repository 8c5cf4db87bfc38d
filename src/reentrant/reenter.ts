import type { Reply } from '../scripts/script-call'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import { withTimeout } from '../util/timeout'
import { TRIES_FOR_ACKNOWLEDGEMENT } from '../waiting/step-after-try'
import { nameOf, notReplicated, unanswered } from '../waiting/wait-errors'
import type { AcquireRequest, AcquireResult, AnyAcquireRequest } from './acquire-request'
import { AcquiredLockHold } from './acquired-lock-hold'
import type { Hold } from './hold'
import { releaseOrphan } from './lock-orphan'
import type { AnyLockScripts, ReenterReply } from './lock-scripts'
import { release, updateLevels, wrongTypeAs } from './release'

/** Re-enters after earlier operations on the hold. If the signal aborts or the wait ends first, the late level is released. */
export async function reenterInTime<Grant>(
  request: AcquireRequest<Grant>,
  hold: Hold,
): Promise<AcquireResult<Grant>> {
  const work = hold.runSerially(() => reenter(request, hold))
  const { context, scripts, waitTime, signal } = request
  const { clock, clientId, grace } = context
  const inTime =
    waitTime === undefined
      ? work
      : withTimeout(work, Math.max(waitTime, 0) + grace, clock, () => {
          throw unanswered(`the re-entry of ${subjectOf(scripts, hold)}`, clientId)
        })
  try {
    return await unlessAborted(inTime, signal)
  } catch (error) {
    work.then((late) => late && release(scripts, late.hold, () => late.level)).catch(() => {})
    throw error
  }
}

/** Adds a level. Undefined if the hold was released or has expired: then the caller acquires a new hold. */
async function reenter<Grant>(request: AcquireRequest<Grant>, hold: Hold): Promise<AcquireResult<Grant>> {
  request.assertWanted()
  if (!hold.checkLive()) return throwIfLost(hold)
  const { context, scripts, lease } = request
  const reply = await askForLevel(request, hold)
  if (!reply) return throwIfLost(hold)
  const { value, sent } = reply
  hold.leaseEnd = value.leaseEnd
  // A kind of lock without a payload keeps the payload of the owner's newest grant.
  if (value.grant !== undefined) hold.grant = value.grant
  if (hold.state === 'held') {
    hold.extend(sent, lease)
    hold.replicatedUpTo(sent)
  }
  if (!hold.checkLive()) {
    // The hold ended in this client while the call was in flight: releases what the server has just granted.
    releaseOrphan(scripts, hold, lease, sent)
    // The lease that was just granted keeps its write hold on the server too, and a new read would wait for it.
    if (hasEndedWriteHold(request)) throw hold.lossError()
    return throwIfLost(hold)
  }
  const level = request.level(sent)
  hold.levels.push(level)
  context.leases.update(hold)
  return new AcquiredLockHold(scripts, hold, level)
}

/** For a hold that has ended: throws if it was lost. Otherwise its caller acquires a new hold. */
function throwIfLost(hold: Hold): undefined {
  if (hold.state === 'lost') throw hold.lossError()
}

/** A reader also held the write lock, that lease has ended as well, and the reader has not released it yet. */
function hasEndedWriteHold({ scripts, caller }: AnyAcquireRequest): boolean {
  const { exclusiveLockId } = scripts
  if (exclusiveLockId === undefined) return false
  const writing = caller.holdOf(exclusiveLockId)
  return writing ? !writing.checkLive() : caller.expiredHoldOf(exclusiveLockId) !== undefined
}

/**
 * Retries until a replica has the level. If no replica acknowledges it, restores count and lease, and rejects. Undefined if
 * the hold is gone.
 */
async function askForLevel<Grant>(
  request: AcquireRequest<Grant>,
  hold: Hold,
): Promise<Reply<ReenterReply<Grant>> | undefined> {
  const { context, scripts } = request
  for (let tries = 1; ; tries++) {
    const reply = await askOnce(request, hold)
    if (reply.value.leaseEnd === 0) {
      if (hold.needsWatchdog || hold.checkLive()) hold.lose('gone')
      // Its explicit lease has ended meanwhile, and the server notified no client: local waiters may be able to enter now.
      else context.queues.mayBeFree(hold)
      return undefined
    }
    if (reply.acknowledged) return reply
    hold.leaseEnd = reply.value.leaseEnd
    if (tries < TRIES_FOR_ACKNOWLEDGEMENT && !request.isWaitOver) continue
    await updateLevels(scripts, hold)
    throw notReplicated(subjectOf(scripts, hold), context.clientId, tries)
  }
}

async function askOnce<Grant>(
  { context, scripts, lease, signal }: AcquireRequest<Grant>,
  hold: Hold,
): Promise<Reply<ReenterReply<Grant>>> {
  const call = scripts.reenter(hold.ownerField, lease, hold.levels.length + 1, hold.releasedEnd)
  // With or without an answer, the server may have this lease from now on. For a writer it adds the lease to the rest.
  hold.longestLease = scripts.addsLeases ? hold.longestLease + lease : Math.max(hold.longestLease, lease)
  try {
    return await unlessAborted(wrongTypeAs(call, { leaseEnd: 0, grant: undefined as Grant }), signal)
  } catch (error) {
    // The re-entry may still be applied. The count is absolute, so the next operation of the hold corrects it. A hold that
    // ends without another operation releases the longer lease that the key may have.
    hold.releaseOrphan = () => releaseOrphan(scripts, hold, hold.longestLease, context.clock.now())
    if (hold.state === 'lost' || hold.state === 'expired') hold.releaseOrphan()
    throw error
  }
}

/** The lock and the hold, for messages of the wait. */
function subjectOf({ name }: AnyLockScripts, { threadId }: Hold): string {
  return nameOf({ subject: `the lock ${quote(name)}`, threadId })
}
