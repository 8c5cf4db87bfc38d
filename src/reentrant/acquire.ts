import { Mutex } from 'async-mutex'
import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { Context } from '../client/context'
import type { LogicalThread } from '../ownership/logical-thread'
import { newThreadId } from '../ownership/process-state'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import { AcquireAttempt } from './acquire-attempt'
import type { AcquireOptions } from './acquire-options'
import { AcquiredLockHold } from './acquired-lock-hold'
import { type Caller, Hold, type HoldRef, type Level, type LevelOrigin } from './hold'
import { LockOrphan, releaseOrphan } from './lock-orphan'
import type { AnyLockScripts, LockScripts } from './lock-scripts'
import { loseHold } from './loss'
import { reenterInTime } from './reenter'
import { waitForSiblingBranches } from './wait-for-sibling-branches'

const TRIES_TO_OUTRUN_LEASE = 10

/** Acquires the lock for a caller: a new hold, or another level of its hold. Undefined when the wait was over. */
export function acquire<Grant>(
  context: Context,
  scripts: LockScripts<Grant>,
  caller: Caller,
  options: AcquireOptions,
  byToken: boolean,
): Promise<AcquiredLockHold<Grant> | undefined> {
  const place = caller.entryToAcquire(scripts.lockId)
  const origin = { byToken, thread: caller.thread, branchPlace: undefined }
  return place
    ? acquireAlone(context, scripts, caller, place, options, origin)
    : acquireAnew(context, scripts, caller, undefined, options, origin)
}

/** Rejects if another acquisition of this caller is in flight: a caller acquires a lock once at a time. */
async function acquireAlone<Grant>(
  context: Context,
  scripts: LockScripts<Grant>,
  caller: Caller,
  place: HoldRef,
  options: AcquireOptions,
  origin: LevelOrigin,
): Promise<AcquiredLockHold<Grant> | undefined> {
  context.assertOpen()
  options.signal?.throwIfAborted()
  if (place.table.get(place.key)?.acquiring?.isLocked())
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(scripts.name)} already (client ${context.clientId}). ` +
        'A caller acquires a lock once at a time: give each concurrent branch its own redisson.run() or threadId.',
    )
  const acquiring = caller.thread?.parent
    ? waitForSiblingBranches(context, scripts, caller, options, origin, (rest, inside) =>
        acquireScoped(context, scripts, caller, place, rest, inside),
      )
    : acquireScoped(context, scripts, caller, place, options, origin)
  // The entry is read after the call above. That call may retire an expired hold, which deletes the entry.
  const entry = place.table.getOrCreate(place.key)
  const guard = new Mutex()
  entry.acquiring = guard
  // The mutex is new, so this locks it at once.
  void guard.acquire()
  try {
    return await acquiring
  } finally {
    guard.release()
    delete entry.acquiring
    place.table.tidy(place.key)
  }
}

async function acquireScoped<Grant>(
  context: Context,
  scripts: LockScripts<Grant>,
  caller: Caller,
  place: HoldRef,
  options: AcquireOptions,
  origin: LevelOrigin,
): Promise<AcquiredLockHold<Grant> | undefined> {
  const hold = caller.holdOf(scripts.lockId)
  if (hold && scripts.refuseReentry && hold.checkLive()) throw scripts.refuseReentry(hold, caller)
  const reentered = hold && (await reenterInTime(context, scripts, hold, options, origin))
  return reentered ?? (await acquireAnew(context, scripts, caller, place, options, origin))
}

async function acquireAnew<Grant>(
  context: Context,
  scripts: LockScripts<Grant>,
  caller: Caller,
  place: HoldRef | undefined,
  options: AcquireOptions,
  origin: LevelOrigin,
): Promise<AcquiredLockHold<Grant> | undefined> {
  context.assertOpen()
  options.signal?.throwIfAborted()
  const { waitTime: wait, leaseTime, signal } = options
  const started = wait === undefined ? undefined : context.clock.now()
  const companion = scripts.companion?.(caller, wait === undefined || wait > 0)
  const lease = leaseTime ?? context.lockWatchdogTimeout
  for (let tries = 1; ; tries++) {
    const waitTime = started && wait! - context.clock.elapsedSince(started)
    const threadId = newThreadId()
    const owner = scripts.ownerField(threadId)
    const asked = { owner, threadId, companion, lease, waitTime, signal, thread: caller.thread }
    const attempt = scripts.newAttempt?.(asked) ?? new AcquireAttempt(context, scripts, asked)
    const { target } = attempt
    // Local waiters came first, so a single try must not go ahead of them.
    if (waitTime !== undefined && wait! <= 0 && context.queues.isKnownHeld(target.lockId)) return undefined
    const reply = await context.queues.acquire(target, attempt)
    if (!reply) return undefined
    try {
      // The client may have begun to shut down in the same tick.
      context.assertOpen()
    } catch (error) {
      releaseOrphan(context, scripts, owner, lease, reply.sent)
      throw error
    }
    const hold = new Hold(context, loseHold, scripts, threadId, owner, reply.sent, lease)
    hold.grant = reply.value.grant
    if (reply.lateCopyPossible)
      hold.releaseLateCopy = () => context.orphans.lateCopy(new LockOrphan(context, scripts, owner, lease))
    const level: Level = { leaseTime, granted: reply.sent, ...origin }
    if (hold.isPastDeadline && !(await confirm(context, scripts, hold, signal))) {
      hold.releaseLateCopyOnce()
      if (tries === TRIES_TO_OUTRUN_LEASE) throw tooShort(context, scripts, hold)
      context.assertOpen()
      signal?.throwIfAborted()
      continue
    }
    hold.levels.push(level)
    take(context, scripts, hold, place, caller.thread)
    return new AcquiredLockHold(context, scripts, hold, level)
  }
}

function tooShort({ clientId }: Context, { name }: AnyLockScripts, { lease, threadId }: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time its lease of ${lease} ms ` +
      `was over before the answer arrived (client ${clientId}, thread id ${threadId}). Use a leaseTime that is longer ` +
      'than a round trip.',
    name,
    threadId,
  )
}

function take(
  context: Context,
  scripts: AnyLockScripts,
  hold: Hold,
  place: HoldRef | undefined,
  thread: LogicalThread | undefined,
) {
  hold.thread = thread
  if (place) {
    hold.ref = place
    place.table.getOrCreate(place.key).hold = hold
  }
  context.leases.begin(hold)
  if (thread?.hasChildren && !scripts.shared) context.queues.letBranchesIn(scripts, thread)
}

/** The answer came so late that the lease may have ended since. Asks the server whether the hold is still there. */
async function confirm(
  context: Context,
  scripts: AnyLockScripts,
  hold: Hold,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const { value, sent, acknowledged } = await unlessAborted(
      scripts.reenter(hold.ownerField, hold.lease, 1, 0).answer,
      signal,
    )
    hold.reset(sent, hold.lease)
    if (value.leaseEnd === 0) return false
    if (acknowledged) hold.replicatedUpTo(sent)
    if (acknowledged && !hold.isPastDeadline) return true
    releaseOrphan(context, scripts, hold.ownerField, hold.lease, sent)
    return false
  } catch (error) {
    releaseOrphan(context, scripts, hold.ownerField, hold.lease, context.clock.now())
    throw error
  }
}
