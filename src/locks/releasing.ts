import { WrongTypeError } from '../api/errors'
import type { Hold, Level } from '../ownership/hold'
import type { Reply } from '../scripts/script-runner'
import { answerToHolder, notHeldBy } from './answer-to-holder'
import { type ClientContext, isLive, loseHold, lossError, stopKeeping } from './client-context'
import { clientsTold, type LockProtocol, NOT_HELD, OTHER_LEASE } from './lock-protocol'

const TRIES_TO_SEE_LEASE = 5

/**
 * Releases one level of a hold, the one that `chooseLevel` names (it throws where there is none); with the
 * last one the lock. Rejects with LockLostError, and settles the level, where the hold is gone; sends nothing
 * where that is known already.
 */
export function release(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  chooseLevel: () => Level,
): Promise<void> {
  return hold.inTurn(() => {
    // Chosen in turn: of two calls under way at once, each releases a level of its own.
    const level = chooseLevel()
    const live = isLive(context, hold)
    hold.levels.splice(hold.levels.indexOf(level), 1)
    if (live)
      return hold.levels.length === 0
        ? releaseLast(context, protocol, hold)
        : tellLevels(context, protocol, hold)
    if (hold.levels.length === 0) forget(hold)
    throw lossError(context, hold)
  })
}

/** Sets count and lease on the server to those of the levels the hold has. */
export async function tellLevels(context: ClientContext, protocol: LockProtocol, hold: Hold): Promise<void> {
  try {
    await releaseLevel(context, protocol, hold)
  } finally {
    // Also where the server could not be told: what remains decides whether the watchdog goes on.
    if (hold.state === 'held') context.leases.keep(hold, protocol.renewal)
  }
}

async function releaseLevel(context: ClientContext, protocol: LockProtocol, hold: Hold): Promise<void> {
  const { lockWatchdogTimeout } = context
  const lease = Math.ceil(
    protocol.leasesRunOn ? hold.needOfLevels(lockWatchdogTimeout) : hold.leaseForLevels(lockWatchdogTimeout),
  )
  for (let tries = 1; ; tries++) {
    const { ownerField, levels, leaseEnd } = hold
    hold.releasedEnd = leaseEnd
    const { value, sent } = await answerToHolder(protocol.release(ownerField, levels.length, lease, leaseEnd))
    if (value === NOT_HELD) {
      loseHold(context, hold, 'gone')
      throw lossError(context, hold)
    }
    if (hold.state !== 'held') return
    const [answer, end] = Array.isArray(value) ? value : [value, leaseEnd]
    hold.leaseEnd = end
    // A renewal was faster than its answer. The count is absolute: whatever comes next sets it right.
    if (answer === OTHER_LEASE && tries < TRIES_TO_SEE_LEASE) continue
    if (answer !== OTHER_LEASE) hold.reset(sent, lease)
    break
  }
}

async function releaseLast(context: ClientContext, protocol: LockProtocol, hold: Hold): Promise<void> {
  hold.state = 'released'
  // First of all the command: whatever else is to be done can be done while the server is at it.
  const handedOver = context.waiting.handOver(protocol.lockId, hold.ownerField, hold.leaseLeft())
  if (!handedOver) context.waiting.freeing(protocol)
  const call = handedOver ?? protocol.release(hold.ownerField, 0, 0, 0)
  stopKeeping(context, hold)
  forget(hold)
  let reply: Reply
  try {
    reply = await call.answer
  } catch (error) {
    if (!handedOver) context.waiting.freed(protocol, undefined)
    if (!(error instanceof WrongTypeError)) {
      context.givingBack.hold(protocol, hold.ownerField, hold.lease, call.started)
      throw error
    }
    reply = notHeldBy(call)
  }
  if (!handedOver)
    context.waiting.freed(protocol, reply.value === NOT_HELD ? undefined : clientsTold(reply.value))
  if (hold.lateCopyPossible) context.givingBack.lateCopy(protocol, hold.ownerField, hold.lease)
  // Gone, but the connection broke on the way: an earlier copy of this very release did it.
  if (reply.value === NOT_HELD && !reply.connectionBroke) {
    loseHold(context, hold, 'gone')
    throw lossError(context, hold)
  }
}

/** The caller has settled every level: nothing of this hold is kept for it. */
function forget(hold: Hold) {
  const { place } = hold
  if (!place) return
  const slot = place.table.get(place.key)
  if (slot?.hold === hold) delete slot.hold
  if (place.table.retired(place.key) === hold) place.table.forgetRetired(place.key)
  place.table.tidy(place.key)
}
