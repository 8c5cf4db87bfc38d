import { IllegalMonitorStateError, LockLostError, RedisUnavailableError } from '../api/errors'
import type { Caller } from '../ownership/callers'
import { Hold, type Level } from '../ownership/hold'
import { newThreadId } from '../ownership/process-state'
import type { SlotPlace } from '../ownership/slot-table'
import type { Reply } from '../scripts/script-runner'
import { unlessAborted } from '../waiting/abort-listeners'
import type { WaitingFor } from '../waiting/gate'
import { notReplicated, TRIES_FOR_ACKNOWLEDGEMENT } from '../waiting/not-replicated'
import { AcquiredHold } from './acquired-hold'
import { Acquisition } from './acquisition'
import { answerToHolder } from './answer-to-holder'
import { type ClientContext, isLive, loseHold, lossError, quote } from './client-context'
import { type LockProtocol, NOT_HELD } from './lock-protocol'
import { release, tellLevels } from './releasing'

export interface AcquireOptions {
  /** ms, or undefined: the watchdog renews while the level lasts. */
  readonly leaseTime: number | undefined
  /** ms; 0 or less: one try; undefined: without limit. */
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
}

const TRIES_TO_OUTRUN_LEASE = 10

/** Acquires the lock for a caller, anew or as a further level of what it holds; undefined when the wait was over. */
export function acquire(
  context: ClientContext,
  protocol: LockProtocol,
  caller: Caller,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  const place = caller.placeToAcquire(protocol.lockId)
  return place
    ? acquireAlone(context, protocol, caller, place, options, byToken)
    : acquireAnew(context, protocol, caller, undefined, options, byToken)
}

/** One caller does one thing at a time. */
async function acquireAlone(
  context: ClientContext,
  protocol: LockProtocol,
  caller: Caller,
  place: SlotPlace,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  context.assertOpen()
  options.signal?.throwIfAborted()
  if (place.table.get(place.key)?.acquiring)
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(protocol.name)} already (client ${context.clientId}). ` +
        'One caller does one thing at a time: give each concurrent branch its own redisson.run() or threadId.',
    )
  const acquiring = acquireScoped(context, protocol, caller, place, options, byToken)
  // Only now: an expired hold, retired by that first look, takes its slot along.
  const slot = place.table.getOrCreate(place.key)
  slot.acquiring = acquiring
  try {
    return await acquiring
  } finally {
    delete slot.acquiring
    place.table.tidy(place.key)
  }
}

async function acquireScoped(
  context: ClientContext,
  protocol: LockProtocol,
  caller: Caller,
  place: SlotPlace,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  const held = caller.placeOfHold(protocol.lockId)
  const hold = held?.table.get(held.key)?.hold
  const reentered = hold && (await reenterInTime(context, protocol, hold, options, byToken))
  return reentered ?? (await acquireAnew(context, protocol, caller, place, options, byToken))
}

/** Re-enters in turn; a caller that gave up meanwhile, by its signal or its wait, gets no level after all. */
async function reenterInTime(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  const work = hold.inTurn(() => reenter(context, protocol, hold, options, byToken))
  let limit = { cancel() {} }
  const waitIsOver = new Promise<never>((_, reject) => {
    if (options.waitTime === undefined) return
    limit = context.clock.after(Math.max(options.waitTime, 0) + context.grace, () =>
      reject(
        new RedisUnavailableError(
          `Redis did not answer the re-entry of the lock ${quote(protocol.name)} in its wait`,
        ),
      ),
    )
  })
  try {
    return await unlessAborted(Promise.race([work, waitIsOver]), options.signal)
  } catch (error) {
    work.then((late) => late && release(context, protocol, late.hold, () => late.level)).catch(() => {})
    throw error
  } finally {
    limit.cancel()
  }
}

/** Adds a level; undefined where the hold was released or ran out before its turn came: its caller starts afresh. */
async function reenter(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  context.assertOpen()
  options.signal?.throwIfAborted()
  if (!isLive(context, hold)) {
    if (hold.state === 'lost') throw lossError(context, hold)
    return undefined
  }
  const lease = options.leaseTime ?? context.lockWatchdogTimeout
  const reply = await askForLevel(context, protocol, hold, lease, options)
  const { value, sent } = reply
  hold.leaseEnd = Number(value)
  if (hold.state === 'held') {
    hold.extend(sent, lease)
    hold.replicatedUpTo(sent)
  }
  if (!isLive(context, hold)) {
    // It ended here while the server was asked: what that has granted since is nobody's, nor is there a level of it.
    context.givingBack.hold(protocol, hold.ownerField, lease, sent)
    throw lossError(context, hold)
  }
  const level: Level = { leaseTime: options.leaseTime, granted: sent, byToken }
  hold.levels.push(level)
  context.leases.keep(hold, protocol.renewal)
  return new AcquiredHold(context, protocol, hold, level)
}

/** As often as it takes until a replica has the level; rejects, with count and lease given back, where none will. */
async function askForLevel(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  lease: number,
  { waitTime, signal }: AcquireOptions,
): Promise<Reply> {
  const started = context.clock.now()
  for (let tries = 1; ; tries++) {
    const reply = await askOnce(context, protocol, hold, lease, signal)
    if (reply.value === NOT_HELD) {
      loseHold(context, hold, 'gone')
      throw lossError(context, hold)
    }
    if (reply.acknowledged) return reply
    hold.leaseEnd = Number(reply.value)
    const waitIsOver = waitTime !== undefined && context.clock.elapsedSince(started) >= waitTime
    if (tries < TRIES_FOR_ACKNOWLEDGEMENT && !waitIsOver) continue
    await tellLevels(context, protocol, hold)
    throw notReplicated(quote(protocol.name), tries)
  }
}

async function askOnce(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  lease: number,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  const call = protocol.reenter(hold.ownerField, lease, hold.levels.length + 1, hold.releasedEnd)
  try {
    return await unlessAborted(answerToHolder(call), signal)
  } catch (error) {
    // Given up, it may still be applied. The count is absolute, so the next operation of the hold sets it right;
    // a hold that ends without one gives back what the key was granted beyond what is known here.
    hold.giveBackRest = () => context.givingBack.hold(protocol, hold.ownerField, lease, context.clock.now())
    throw error
  }
}

async function acquireAnew(
  context: ClientContext,
  protocol: LockProtocol,
  caller: Caller,
  place: SlotPlace | undefined,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredHold | undefined> {
  context.assertOpen()
  options.signal?.throwIfAborted()
  const { waitTime: wait } = options
  const started = wait === undefined ? undefined : context.clock.now()
  const beside = protocol.beside?.(caller, wait === undefined || wait > 0)
  const queue = queueFor(protocol, beside)
  const lease = options.leaseTime ?? context.lockWatchdogTimeout
  for (let tries = 1; ; tries++) {
    const waitTime = started && wait! - context.clock.elapsedSince(started)
    // Those who wait here were first; asking Redis past them would be barging.
    if (waitTime !== undefined && wait! <= 0 && context.waiting.hasQueue(queue.lockId)) return undefined
    const threadId = newThreadId()
    const owner = protocol.ownerField(threadId)
    const request = new Acquisition(context, protocol, owner, beside, lease, waitTime, options.signal)
    const reply = await context.waiting.acquire(queue, request)
    if (!reply) return undefined
    try {
      // Granted in the very turn in which the client began to shut down.
      context.assertOpen()
    } catch (error) {
      context.givingBack.hold(protocol, owner, lease, reply.sent)
      throw error
    }
    const hold = new Hold(context.clock, protocol, threadId, owner, reply.sent, lease)
    hold.lateCopyPossible = reply.connectionBroke
    const level: Level = { leaseTime: options.leaseTime, granted: reply.sent, byToken }
    if (hold.isPastDeadline && !(await confirm(context, protocol, hold, options.signal))) {
      if (tries === TRIES_TO_OUTRUN_LEASE) throw tooShort(protocol, hold)
      context.assertOpen()
      options.signal?.throwIfAborted()
      continue
    }
    hold.levels.push(level)
    take(context, protocol, hold, place)
    return new AcquiredHold(context, protocol, hold, level)
  }
}

/** Whoever is let in for what it holds beside must not queue behind those who wait for that very hold to end. */
function queueFor(protocol: LockProtocol, beside: string | undefined): WaitingFor {
  if (beside === undefined) return protocol
  const { lockId, lockIds, channel, shared } = protocol
  return { lockId: `${lockId} beside ${beside}`, lockIds, channel, shared }
}

function tooShort(protocol: LockProtocol, hold: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(protocol.name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row and each time its lease of ` +
      `${hold.lease} ms was over before the answer arrived: the leaseTime is shorter than a round trip takes.`,
    protocol.name,
    hold.threadId,
  )
}

function take(context: ClientContext, protocol: LockProtocol, hold: Hold, place: SlotPlace | undefined) {
  if (place) {
    hold.place = place
    place.table.getOrCreate(place.key).hold = hold
  }
  context.holds.add(hold)
  context.leases.keep(hold, protocol.renewal)
}

/** The answer came so late that the lease may have run out on the way: asks before handing the lock out. */
async function confirm(
  context: ClientContext,
  protocol: LockProtocol,
  hold: Hold,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const { value, sent, acknowledged } = await unlessAborted(
      protocol.reenter(hold.ownerField, hold.lease, 1, 0).answer,
      signal,
    )
    hold.reset(sent, hold.lease)
    if (value === NOT_HELD) return false
    if (acknowledged) hold.replicatedUpTo(sent)
    if (acknowledged && !hold.isPastDeadline) return true
    context.givingBack.hold(protocol, hold.ownerField, hold.lease, sent)
    return false
  } catch (error) {
    context.givingBack.hold(protocol, hold.ownerField, hold.lease, context.clock.now())
    throw error
  }
}
