import { TRIES_FOR_ACKNOWLEDGEMENT } from '../waiting/attempt'
import { nameOf, notReplicated } from '../waiting/wait-errors'
import type { Acquisition } from './acquire'
import type { Hold, Level } from './hold'
import { updateLevels } from './release'

/**
 * Whether the caller of a re-entry still waits for its level, has it, or has left. It leaves, or gets the
 * level, once.
 */
interface Entering {
  state: 'waiting' | 'inside' | 'left'
}

/**
 * Adds a level to a hold of the caller. `again`: the hold has ended, so the caller looks for another one.
 * Rejects if the hold was lost.
 */
export async function reenter(acquisition: Acquisition, hold: Hold): Promise<Level | 'again'> {
  if (hold.checkLive()) acquisition.kind.refuseReentry?.(hold, acquisition.caller)
  const level = await reenterInTime(acquisition, hold)
  if (level) return level
  if (hold.state === 'lost') throw hold.lossError()
  return 'again'
}

/** Re-enters after earlier operations on the hold, unless the signal aborts or the wait ends first. */
async function reenterInTime(acquisition: Acquisition, hold: Hold) {
  const entering: Entering = { state: 'waiting' }
  // Its caller may leave while it waits for other operations on the hold.
  const work = hold.runSerially(async () =>
    entering.state === 'left' ? undefined : await addLevel(acquisition, hold, entering),
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

/**
 * Adds a level. Its ends, in their order:
 *
 * | what it finds                                 | what becomes of the level and its caller             |
 * | --------------------------------------------- | ---------------------------------------------------- |
 * | an abort, or a shutdown                       | rejects, nothing was sent                            |
 * | the hold has ended                            | undefined, nothing was sent                          |
 * | a maxHoldTime, where the hold has none        | TypeError, nothing was sent                          |
 * | the server does not answer                    | rejects, and the hold is uncertain                   |
 * | the server does not have the hold             | undefined; the hold is lost, or its lease has ended  |
 * | the hold has ended in this client since       | undefined; it is released in the background          |
 * | no replica acknowledged it                    | the server takes it back; LockNotReplicatedError (a) |
 * | its caller has left                           | the server takes it back; undefined (a)              |
 * | the caller still waits                        | the level                                            |
 *
 * (a) If that is not answered or finds the hold gone, it rejects with that error.
 *
 * After undefined the caller learns that the hold was lost, or looks for another one.
 */
async function addLevel(
  acquisition: Acquisition,
  hold: Hold,
  entering: Entering,
): Promise<Level | undefined> {
  const { client, kind, options } = acquisition
  const { book } = hold
  client.assertWanted(acquisition.signal)
  if (!hold.checkLive()) return undefined
  if (options.maxHoldTime !== undefined && book.maxHoldTime === undefined)
    throw new TypeError(
      `${nameOf(kind, hold.threadId)} is held without a maxHoldTime already, and a re-entry cannot limit ` +
        `it (client ${client.clientId}): give it where the lock is acquired first`,
    )
  const { value, sent, lease, acknowledged, tries } = await askForLevel(acquisition, hold)
  if (value.leaseEnd === 0) {
    if (hold.needsWatchdog || hold.checkLive()) hold.lose('gone')
    // Its explicit lease has ended, and the server notified no client: local waiters may be able to enter.
    else client.queues.wakeWaiters(hold.leased)
    return undefined
  }
  if (acknowledged) book.renewed(sent, lease, value.leaseEnd, true)
  else book.endsAt(value.leaseEnd)
  if (!hold.checkLive()) {
    hold.releaseOrphan()
    return undefined
  }
  if (!acknowledged || entering.state === 'left') {
    // No other operation sees this level: count and lease are restored before the next one.
    await updateLevels(kind, hold)
    if (acknowledged) return undefined
    throw notReplicated(nameOf(kind, hold.threadId), client.clientId, tries)
  }
  entering.state = 'inside'
  const level = hold.addLevel(acquisition, sent, value.grant)
  client.leases.update(hold)
  return level
}

/** Asks until a replica has the level, as long as its caller waits. */
async function askForLevel(acquisition: Acquisition, hold: Hold) {
  for (let tries = 1; ; tries++) {
    const reply = await askOnce(acquisition, hold)
    const mayAskAgain = tries < TRIES_FOR_ACKNOWLEDGEMENT && acquisition.waitTime > 0
    if (reply.acknowledged || reply.value.leaseEnd === 0 || !mayAskAgain || acquisition.signal?.aborted)
      return { ...reply, tries }
    hold.book.endsAt(reply.value.leaseEnd)
  }
}

async function askOnce({ client, kind, options }: Acquisition, hold: Hold) {
  const { book } = hold
  const lease = book.askForLevel(options.leaseTime ?? client.lockWatchdogTimeout, kind.addsLeases === true)
  const call = kind.reenter(hold.ownerField, lease, hold.levels.size + 1, book.releasedEnd)
  return { ...(await hold.answerTo(call, { leaseEnd: 0, grant: undefined })), lease }
}
