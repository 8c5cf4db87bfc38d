import type { Hold, Level } from '../ownership/hold'
import { type ClientContext, isLive, loseHold, lossError, stopKeeping } from './client-context'
import { FREED_UNTOLD, type LockProtocol, NOT_HELD } from './lock-protocol'

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
  return hold.inTurn(async () => {
    // Chosen in turn: of two calls under way at once, each releases a level of its own.
    const level = chooseLevel()
    const live = isLive(context, hold)
    hold.levels.splice(hold.levels.indexOf(level), 1)
    if (!live) {
      if (hold.levels.length === 0) forget(hold)
      throw lossError(context, hold)
    }
    if (hold.levels.length > 0) await releaseLevel(context, protocol, hold)
    else await releaseLast(context, protocol, hold)
  })
}

async function releaseLevel(context: ClientContext, protocol: LockProtocol, hold: Hold): Promise<void> {
  const { lockWatchdogTimeout } = context
  const lease = Math.ceil(
    protocol.leasesRunOn ? hold.needOfLevels(lockWatchdogTimeout) : hold.leaseForLevels(lockWatchdogTimeout),
  )
  const { value, sent } = await protocol.release(hold.ownerField, hold.levels.length, lease).answer
  if (value === NOT_HELD) {
    loseHold(context, hold, 'gone')
    throw lossError(context, hold)
  }
  if (hold.state !== 'held') return
  hold.reset(sent, lease)
  context.leases.keep(hold, protocol.renewal)
}

async function releaseLast(context: ClientContext, protocol: LockProtocol, hold: Hold): Promise<void> {
  const called = context.clock.now()
  hold.state = 'released'
  stopKeeping(context, hold)
  forget(hold)
  const call = protocol.release(hold.ownerField, 0, 0)
  let reply: Awaited<typeof call.answer>
  try {
    reply = await call.answer
  } catch (error) {
    if ((error as { code?: string }).code === 'REDIS_UNAVAILABLE')
      context.givingBack.hold(protocol, hold.ownerField, hold.lease, called)
    throw error
  }
  // Gone, but the connection broke on the way: an earlier copy of this very release did it.
  if (reply.value === NOT_HELD && !reply.connectionBroke) {
    loseHold(context, hold, 'gone')
    throw lossError(context, hold)
  }
  context.waiting.freed(protocol, reply.value !== FREED_UNTOLD)
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
