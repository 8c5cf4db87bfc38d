import { IllegalMonitorStateError } from '../api/errors'
import { quote } from '../util/quote'
import { nameOf, notReplicated } from '../waiting/wait-errors'
import { TRIES_FOR_ACKNOWLEDGEMENT } from '../waiting/waiter'
import { type Acquisition, acquire } from './acquire'
import type { Hold, Level } from './hold'
import { updateLevels, wrongTypeAs } from './release'

/**
 * Whether the caller of a re-entry still waits for its level, has it, or has left. It leaves, or gets the
 * level, once.
 */
interface Entering {
  state: 'waiting' | 'inside' | 'left'
}

/** Adds a level to a hold of the caller, or acquires a new hold if that one ends before. */
export async function reenterOrAcquire(acquisition: Acquisition, hold: Hold): Promise<Level | undefined> {
  if (acquisition.kind.reentrantBy && hold.checkLive()) throw reentryRefused(acquisition, hold)
  return (await reenterInTime(acquisition, hold)) ?? (await acquire(acquisition))
}

function reentryRefused({ kind: { name, reentrantBy }, caller }: Acquisition, hold: Hold) {
  return new IllegalMonitorStateError(
    `The lock ${quote(name)} is not re-entrant, and ${caller.description} holds it already ` +
      `(client ${hold.client.clientId}, thread id ${hold.threadId}). Release it first. ` +
      `Where code that holds a lock calls code that takes it again, use ${reentrantBy}.`,
  )
}

/** Re-enters after earlier operations on the hold, unless the signal aborts or the wait ends first. */
async function reenterInTime(acquisition: Acquisition, hold: Hold) {
  const entering: Entering = { state: 'waiting' }
  // Its caller may leave while it waits for other operations on the hold.
  const work = hold.runSerially(async () =>
    entering.state === 'left' ? undefined : await reenter(acquisition, hold, entering),
  )
  try {
    return await acquisition.inTime(work, `the re-entry of ${nameOf(acquisition.kind, hold.threadId)}`)
  } catch (error) {
    // The level came first: the caller gets it, and decides.
    if (entering.state === 'inside') return await work
    entering.state = 'left'
    throw error
  }
}

/** Adds a level. Undefined if the hold was released or has expired: then the caller acquires a new hold. */
async function reenter(acquisition: Acquisition, hold: Hold, entering: Entering) {
  acquisition.assertWanted()
  if (!hold.checkLive()) return throwIfLost(hold)
  const { client, kind, options } = acquisition
  if (options.maxHoldTime !== undefined && hold.book.maxHoldTime === undefined)
    throw new TypeError(
      `${nameOf(kind, hold.threadId)} is held without a maxHoldTime already, and a re-entry cannot limit ` +
        `it (client ${client.clientId}): give it where the lock is acquired first`,
    )
  const reply = await askForLevel(acquisition, hold)
  if (!reply) return throwIfLost(hold)
  const { value, sent, lease } = reply
  hold.book.endsAt(value.leaseEnd)
  // A kind of lock without a payload keeps the payload of the owner's newest grant.
  if (value.grant !== undefined) hold.grant = value.grant
  if (hold.state === 'held') {
    hold.book.extend(sent, lease)
    hold.book.replicatedUpTo(sent)
  }
  if (!hold.checkLive()) {
    // The hold ended in this client while the call was in flight: releases what the server has just granted.
    hold.releaseOrphan(lease)
    return throwIfLost(hold)
  }
  if (entering.state === 'left') {
    // No other operation sees this level: count and lease are restored before the next one.
    await updateLevels(kind, hold)
    return undefined
  }
  entering.state = 'inside'
  const level = hold.addLevel(acquisition, sent)
  client.leases.update(hold)
  return level
}

/** For a hold that has ended: throws if it was lost. Otherwise its caller acquires a new hold. */
function throwIfLost(hold: Hold): undefined {
  if (hold.state === 'lost') throw hold.lossError()
}

/**
 * Retries until a replica has the level. If no replica acknowledges it, restores count and lease, and
 * rejects. Undefined if the hold is gone.
 */
async function askForLevel(acquisition: Acquisition, hold: Hold) {
  const { client, kind } = acquisition
  for (let tries = 1; ; tries++) {
    const reply = await askOnce(acquisition, hold)
    if (reply.value.leaseEnd === 0) {
      if (hold.needsWatchdog || hold.checkLive()) hold.lose('gone')
      // Its explicit lease has ended meanwhile, and the server notified no client: local waiters may be able
      // to enter now.
      else client.queues.wakeWaiters(hold.leased)
      return undefined
    }
    if (reply.acknowledged) return reply
    hold.book.endsAt(reply.value.leaseEnd)
    if (tries < TRIES_FOR_ACKNOWLEDGEMENT && acquisition.waitTime > 0 && !acquisition.signal?.aborted)
      continue
    if (!hold.checkLive()) {
      hold.releaseOrphan()
      return undefined
    }
    await updateLevels(kind, hold)
    throw notReplicated(nameOf(kind, hold.threadId), client.clientId, tries)
  }
}

async function askOnce({ client, kind, options }: Acquisition, hold: Hold) {
  const { book } = hold
  const rest = kind.addsLeases && book.maxHoldTime ? book.left() : 0
  const wanted = options.leaseTime ?? client.lockWatchdogTimeout
  // No level ends after the limit of its hold, also where the server adds the lease to the rest.
  const lease = Math.max(0, Math.floor(book.withinLimit(rest + wanted) - rest))
  const call = kind.reenter(hold.ownerField, lease, hold.levels.size + 1, book.releasedEnd)
  // With or without an answer, the server may have this lease from now on. For a writer it adds the lease to
  // the rest.
  book.mayLast(kind.addsLeases ? book.longest + lease : lease)
  try {
    return { ...(await wrongTypeAs(call, { leaseEnd: 0, grant: undefined })), lease }
  } catch (error) {
    // It may still be applied.
    hold.releaseAtItsEnd()
    throw error
  }
}
