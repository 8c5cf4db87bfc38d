import { LockLostError, WrongTypeError } from '../api/errors'
import type { Client } from '../client/client'
import type { Orphan } from '../leases/orphan-releaser'
import { NO_COMMAND } from '../scripts/command-order'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import { blocked, type Outcome } from '../waiting/attempt'
import type { Hold, Level } from './hold'
import { type LockScripts, NOT_HELD, type ReleaseReply } from './lock-scripts'

const TRIES_TO_SEE_LEASE = 5

/**
 * Releases a level; with the last level of its hold the lock. If the hold is gone, settles the level and rejects with
 * LockLostError.
 */
export function release(scripts: LockScripts, level: Level): Promise<void> {
  const { hold } = level
  return hold.runSerially(async () => {
    const live = hold.checkLive()
    hold.drop(level)
    if (live) return await (hold.levels.size === 0 ? releaseLast(scripts, hold) : updateLevels(scripts, hold))
    if (hold.levels.size === 0) {
      hold.entry?.forget(hold)
      releaseExpired(scripts, hold)
    }
    throw hold.lossError()
  })
}

/** Sets count and lease on the server to those that the levels of the hold need. */
export async function updateLevels(scripts: LockScripts, hold: Hold): Promise<void> {
  const isRenewing = hold.context.leases.isRenewing(hold)
  try {
    await releaseLevel(scripts, hold)
  } catch (error) {
    if (!(error instanceof LockLostError)) releaseAtItsEnd(scripts, hold)
    throw error
  } finally {
    // This also runs if the server could not be reached: the remaining levels decide whether the watchdog goes on.
    if (hold.state === 'held') hold.context.leases.update(hold)
    // The renewal may arrive after the release, and then the server keeps the hold beyond its lease.
    if (isRenewing && !hold.needsWatchdog) releaseAtItsEnd(scripts, hold)
  }
}

async function releaseLevel(scripts: LockScripts, hold: Hold): Promise<void> {
  const { leases } = hold.context
  const lease = Math.ceil(hold.leaseForLevels(scripts.shared === true))
  for (let tries = 1; ; tries++) {
    const { ownerField, levels, book } = hold
    const leaseEnd = book.releasing()
    const call = scripts.release(ownerField, levels.size, lease, leaseEnd)
    // From now on, until the answer, the longer lease may be gone.
    const takeBack = book.mayShorten(call.started, lease)
    // The leases of the remaining levels may have ended. Then their holder learns it before the server has freed the lock.
    if (hold.checkLive()) leases.update(hold)
    const { value, sent, connectionBroke } = await wrongTypeAs(call, NOT_HELD)
    if (value.result === 'not-held') {
      hold.lose('gone')
      throw hold.lossError()
    }
    if (value.result === 'other-lease') {
      // A renewal changed the lease, and its answer has not arrived yet. This copy of the release changed nothing.
      book.endsAt(value.leaseEnd)
      if (hold.state === 'held' && !connectionBroke) takeBack()
      // This is no error: the count is absolute, so the next operation sets it.
      if (tries === TRIES_TO_SEE_LEASE) return
      continue
    }
    if (hold.state !== 'held') return
    // After "freed", the leases of the remaining levels have ended, and the next check ends the hold.
    if (value.result === 'reduced') book.endsAt(value.leaseEnd ?? leaseEnd)
    return book.set(sent, lease)
  }
}

/** Hands the lock to the next local caller, or frees it for all. */
function releaseLast(scripts: LockScripts, hold: Hold): Promise<void> {
  const { context, ownerField, book, entry } = hold
  hold.state = 'released'
  // The command is sent first: the client does the rest while the server works on it.
  const handoff = context.queues.of(scripts)?.handOff(ownerField, book.longest)
  const released = handoff ? passOn(scripts, hold, handoff) : free(scripts, hold)
  context.leases.end(hold)
  entry?.forget(hold)
  return released
}

/** `handoff`: the try by which the next local caller takes over. No other process is notified. */
async function passOn(scripts: LockScripts, hold: Hold, handoff: ScriptCall<Outcome<unknown>>) {
  let reply: Reply<Outcome<unknown>>
  try {
    reply = await handoff.answer
  } catch (error) {
    reply = goneOrThrow(scripts, hold, handoff, error, blocked(0))
  }
  assertWasHeld(hold, reply.value.granted, reply.connectionBroke)
}

/** The server notifies the waiters of all processes. */
async function free(scripts: LockScripts, hold: Hold) {
  const { queues, unpublishedReleases } = hold.context
  queues.releasing(scripts)
  const call = scripts.release(hold.ownerField, 0, 0, 0)
  let reply: Reply<ReleaseReply>
  try {
    reply = await call.answer
  } catch (error) {
    queues.freed(scripts, undefined)
    reply = goneOrThrow(scripts, hold, call, error, NOT_HELD)
  }
  const { value, connectionBroke } = reply
  const wasHeld = value.result !== 'not-held'
  queues.freed(scripts, value.result === 'freed' ? value.notified : wasHeld ? 0 : undefined)
  unpublishedReleases.released(scripts, value)
  assertWasHeld(hold, wasHeld, connectionBroke)
}

/** The reply to a last release that failed: `gone` where the key holds something else by now. Otherwise retries, and throws. */
function goneOrThrow<Value>(
  scripts: LockScripts,
  hold: Hold,
  call: ScriptCall<Value>,
  error: unknown,
  gone: Value,
): Reply<Value> {
  if (error instanceof WrongTypeError) return clientReply(call, gone)
  releaseOrphan(scripts, hold, hold.book.longest, call.started)
  throw error
}

function assertWasHeld(hold: Hold, wasHeld: boolean, connectionBroke: boolean) {
  // After a broken connection "not held" means success: an earlier copy of this release was applied.
  if (wasHeld || connectionBroke) return
  hold.lose('gone')
  throw hold.lossError()
}

/**
 * Ends a level in this client and sends nothing. After the last level, the server keeps the lock until its lease ends.
 * Rejects with LockLostError if the hold was lost for another reason than its lease.
 */
export function leaveToLease(level: Level): Promise<void> {
  const { hold } = level
  return hold.runSerially(async () => {
    const live = hold.checkLive()
    hold.drop(level)
    if (hold.levels.size > 0) return
    hold.entry?.forget(hold)
    if (!live && hold.lossReason !== 'lease') throw hold.lossError()
    if (!live) return
    hold.state = 'released'
    const { leases, clock } = hold.context
    leases.end(hold)
    if (hold.releaseOrphan) clock.after(hold.book.left(), hold.releaseOrphan)
    // Local waiters need no wake-up: the server answered them how long the lease lasts.
  })
}

/** The answer, or `gone` where the key holds something else by now: such a key no longer holds the lock. */
export async function wrongTypeAs<Value>(call: ScriptCall<Value>, gone: Value): Promise<Reply<Value>> {
  try {
    return await call.answer
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error
    return clientReply(call, gone)
  }
}

/** A reply that the client gives itself, in place of the server's. */
function clientReply<Value>({ started }: AnyScriptCall, value: Value): Reply<Value> {
  return { value, sent: started, connectionBroke: false, acknowledged: true, ...NO_COMMAND }
}

/**
 * Releases a hold on the server whose deadline has passed here. It may still be there: the wall clock was set forward, or the
 * answer to a renewal was lost. Its field belongs to this hold alone, so the release cannot affect another hold.
 */
function releaseExpired(scripts: LockScripts, hold: Hold) {
  const { context, book, state, ended } = hold
  const lease = book.longest
  if (hold.lossReason !== 'lease') return
  // Another hold of this client on the same lock proves that it is gone.
  if (!scripts.shared && context.leases.live.first({ key: scripts.key, relatedIds: [scripts.objectId] }))
    return
  if (scripts.keyOutlivesLease) {
    // The lease of the hold says nothing about its field. It may be negative if an inner level needed more than this one.
    const triesFor = Math.max(lease, context.lockWatchdogTimeout)
    releaseOrphan(scripts, hold, triesFor, context.clock.now())
  } else releaseOrphan(scripts, hold, lease, state === 'lost' && ended ? ended : book.lastSet)
}

/**
 * The server may have more levels of the hold, or a longer lease, than the client knows. The count is absolute, so the next
 * operation of the hold corrects it. A hold that ends without another operation releases what the key may have.
 */
export function releaseAtItsEnd(scripts: LockScripts, hold: Hold): void {
  hold.releaseOrphan = () => releaseOrphan(scripts, hold, hold.book.longest, hold.context.clock.now())
  if (hold.state === 'lost' || hold.state === 'expired') hold.releaseOrphan()
}

/** The lock that an owner may still hold although no caller waits for it. */
export function lockOrphan(context: Client, scripts: LockScripts, owner: string, lease: number): Orphan {
  const release = async () => {
    const { value } = await scripts.release(owner, 0, 0, 0).answer
    if (value.result === 'freed') context.queues.freed(scripts, value.notified)
    // It is gone, and the server notified no client: local waiters may have read its TTL.
    else if (value.result === 'not-held') context.queues.mayBeFree(scripts)
    context.unpublishedReleases.released(scripts, value)
  }
  return { lease, release }
}

/** Releases in the background what the server may still have of a hold. `since`: when its lease was last set. */
export function releaseOrphan(scripts: LockScripts, hold: Hold, lease: number, since: Moment): void {
  const { context, ownerField } = hold
  context.orphans.releaseNow(lockOrphan(context, scripts, ownerField, lease), since)
}
