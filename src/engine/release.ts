import { WrongTypeError } from '../api/errors'
import type { Orphan } from '../leases/orphan-releaser'
import type { Reply, ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import type { Outcome } from '../waiting/attempt'
import type { Hold, Level } from './hold'
import type { LockKind } from './lock-kind'
import { NOT_HELD, type ReleaseReply } from './release-reply'

const TRIES_TO_SEE_LEASE = 5

/**
 * Releases a level; with the last level of its hold the lock. If the hold is gone, settles the level and
 * rejects with LockLostError.
 */
export function release(kind: LockKind, level: Level): Promise<void> {
  const { hold } = level
  return hold.runSerially(async () => {
    const live = hold.checkLive()
    hold.drop(level)
    if (live) return await (hold.levels.size === 0 ? releaseLast(kind, hold) : updateLevels(kind, hold))
    hold.entry?.tidy()
    throw hold.lossError()
  })
}

/** Sets count and lease on the server to those that the levels of the hold need. */
export async function updateLevels(kind: LockKind, hold: Hold): Promise<void> {
  const { leases } = hold.client
  const isRenewing = leases.isRenewing(hold)
  let end: 'set' | 'gone' | 'unknown' = 'unknown'
  try {
    end = await setOnServer(kind, hold)
  } finally {
    // The remaining levels decide whether the watchdog goes on, also if the server could not be reached.
    if (hold.state === 'held') leases.update(hold)
    // A renewal may arrive after the release, and then the server keeps the hold beyond its lease.
    if (end === 'unknown' || (isRenewing && !hold.needsWatchdog)) hold.becameUncertain()
  }
  if (end === 'gone') throw hold.lossError()
}

/**
 * Sends count and lease until it knows what the server has:
 *
 * | the server answers | the hold in this client | the end                   |
 * | ------------------ | ----------------------- | ------------------------- |
 * | nothing            |                         | rejects, so it is unknown |
 * | not held           |                         | `gone`: it is lost        |
 * | reduced or freed   |                         | `set`                     |
 * | another lease      | held                    | none: it asks again       |
 * |                    | ended, or this is try 5 | `unknown`                 |
 */
async function setOnServer(kind: LockKind, hold: Hold): Promise<'set' | 'gone' | 'unknown'> {
  const { client, ownerField, levels, book } = hold
  for (let tries = 0; tries < TRIES_TO_SEE_LEASE && hold.state === 'held'; tries++) {
    const lease = Math.ceil(hold.leaseForLevels(kind.shared === true))
    const leaseEnd = book.beginRelease()
    const call = kind.release(ownerField, levels.size, lease, leaseEnd)
    // From now on, until the answer, the longer lease may be gone.
    book.mayShorten(call.started, lease)
    // The leases of the remaining levels may have ended. Then their holder learns it before the server has
    // freed the lock.
    if (hold.checkLive()) client.leases.update(hold)
    const { value, sent } = await wrongTypeAs(call, NOT_HELD)
    if (value.result === 'not-held') {
      hold.lose('gone')
      return 'gone'
    }
    if (value.result !== 'other-lease') {
      // After "freed", the leases of the remaining levels have ended, and the next check ends the hold.
      if (value.result === 'reduced') book.endsAt(value.leaseEnd ?? leaseEnd)
      book.set(sent, lease)
      return 'set'
    }
    // A renewal changed the lease, and its answer has not arrived yet. This copy of the release changed
    // nothing.
    book.endsAt(value.leaseEnd)
  }
  // This is no error: the count is absolute, so the next operation sets it, or the end of the hold.
  return 'unknown'
}

/** Hands the lock to the next local caller, or frees it for all: the server notifies the waiters. */
function releaseLast(kind: LockKind, hold: Hold): Promise<void> {
  const { client, ownerField, book } = hold
  const { queues, recentReleases } = client
  const keep = recentReleases?.sending(kind.key)
  // The command is sent first: the client does the rest while the server works on it.
  const handoff = queues.of(kind)?.handOff(ownerField, book.longest)
  const call = handoff ?? kind.release(ownerField, 0, 0, 0)
  const ended = handoff
    ? endByAnswer(hold, call.started, handoff.answer, hasHandedOff, keep)
    : endByAnswer(hold, call.started, queues.followRelease(kind, call.answer), hasReleased, keep)
  hold.leave()
  return ended
}

function hasHandedOff({ granted }: Outcome<unknown>): boolean {
  return granted
}

function hasReleased({ result }: ReleaseReply): boolean {
  return result !== 'not-held'
}

/** Rejects if the server no longer had the hold. `keep`: keeps the release where a replica may lack it. */
async function endByAnswer<Value>(
  hold: Hold,
  sent: Moment,
  answer: Promise<Reply<Value>>,
  succeeded: (value: Value) => boolean,
  keep: ((orphan: Orphan) => void) | undefined,
) {
  let wasHeld = false
  try {
    const { value, hasLostCopy } = await answer
    // After a broken connection "not held" means success: an earlier copy of this release was applied.
    wasHeld = hasLostCopy || succeeded(value)
  } catch (error) {
    // If the key holds something else by now, it no longer holds the lock.
    if (!(error instanceof WrongTypeError)) {
      hold.releaseOrphan(hold.book.longest, sent)
      hold.publishEnd?.('released')
      throw error
    }
  }
  keep?.(hold.orphan())
  if (wasHeld) return hold.publishEnd?.('released')
  hold.lose('gone')
  throw hold.lossError()
}

/**
 * Ends a level in this client and sends nothing. After the last level, the server keeps the lock until its
 * lease ends. Rejects with LockLostError if the hold was lost for another reason than its lease.
 */
export function leaveToLease(level: Level): Promise<void> {
  const { hold } = level
  return hold.runSerially(async () => {
    const live = hold.checkLive()
    hold.drop(level)
    if (hold.levels.size > 0) return
    if (!live) {
      hold.entry?.forget(hold)
      if (hold.lossReason !== 'lease') throw hold.lossError()
      return
    }
    hold.leave()
    hold.publishEnd?.('released')
    if (hold.isUncertain) hold.client.clock.after(hold.book.left(), () => hold.releaseOrphan())
    // Local waiters need no wake-up: the server answered them how long the lease lasts.
  })
}

/** The answer, or `gone` where the key holds something else by now: such a key no longer holds the lock. */
export async function wrongTypeAs<Value>(call: ScriptCall<Value>, gone: Value): Promise<Reply<Value>> {
  try {
    return await call.answer
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error
    return { value: gone, sent: call.started, hasLostCopy: false, acknowledged: true }
  }
}
