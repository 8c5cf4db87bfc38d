import { IllegalMonitorStateError } from '../api/errors'
import type { Context } from '../client/context'
import { type BranchPlace, HoldBranches } from '../ownership/branch-place'
import { outsideThreads } from '../ownership/logical-thread'
import { onAbort } from '../util/abort'
import { quote } from '../util/quote'
import { ANCESTOR_ACQUIRED } from '../waiting/waiter'
import type { AcquireOptions } from './acquire-options'
import type { Caller, Hold, LevelOrigin } from './hold'
import type { AnyLockScripts } from './lock-scripts'
import { lossError } from './loss'

/** A caller that enters below a hold of an ancestor. */
interface BranchEntry {
  readonly hold: Hold
  readonly place: BranchPlace
}

/**
 * Enters below the hold of an ancestor, waits until no sibling branch excludes the caller, and then acquires. Usually there
 * is no such hold, and it acquires at once. Undefined when the wait was over.
 */
export async function waitForSiblingBranches<Result>(
  context: Context,
  scripts: AnyLockScripts,
  caller: Caller,
  options: AcquireOptions,
  origin: LevelOrigin,
  acquire: (options: AcquireOptions, origin: LevelOrigin) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const started = options.waitTime === undefined ? undefined : context.clock.now()
  let rest: AcquireOptions | undefined = options
  for (;;) {
    const entry = enterBranch(scripts, caller)
    const branchPlace = entry?.place
    try {
      if (entry && entry.place.state !== 'inside') rest = await untilInside(context, scripts, entry, rest)
      const acquired = rest && (await acquire(rest, branchPlace ? { ...origin, branchPlace } : origin))
      if (!acquired) branchPlace?.leave()
      return acquired
    } catch (error) {
      branchPlace?.leave()
      if (error !== ANCESTOR_ACQUIRED) throw error
      rest = started ? remainingOptions(options, context.clock.elapsedSince(started)) : options
    }
  }
}

/**
 * Enters, or queues, below the hold of an ancestor; undefined if there is no such hold. One path of the tree of threads holds
 * the lock: siblings exclude each other below a hold, like other callers outside it.
 */
function enterBranch(scripts: AnyLockScripts, caller: Caller): BranchEntry | undefined {
  // Siblings that read do not exclude each other: for the read side, the hold above them is the write hold.
  const hold = caller.holdOf(scripts.exclusiveLockId)
  if (!hold) return undefined
  const path = caller.pathBelow(hold)
  if (path.length === 0 || !hold.checkLive()) return undefined
  hold.branches ??= new HoldBranches()
  return { hold, place: hold.branches.enter(path, scripts.shared) }
}

/**
 * Waits until the caller is inside, or until the hold or the thread has ended. Resolves with the options and the rest of the
 * wait, or with undefined when the wait was over.
 */
async function untilInside(
  context: Context,
  scripts: AnyLockScripts,
  entry: BranchEntry,
  options: AcquireOptions,
): Promise<AcquireOptions | undefined> {
  const { hold, place } = entry
  const { waitTime } = options
  if (waitTime !== undefined && waitTime <= 0) return undefined
  const started = context.clock.now()
  if (place.state === 'waiting') await decided(context, scripts, entry, options)
  if (place.state === 'refused')
    throw new IllegalMonitorStateError(
      `This logical thread and sibling branches hold the read lock ${quote(scripts.name)}, and it asks for the write ` +
        `lock (client ${context.clientId}, thread id ${hold.threadId}). If a sibling asked too, both would wait for ` +
        'ever. Release the read lock first, or take the write lock from the start.',
    )
  if (hold.state === 'lost') throw lossError(context, hold)
  if (place.state === 'waiting') return undefined
  return remainingOptions(options, context.clock.elapsedSince(started))
}

/** The options with a wait that is this many ms shorter. */
function remainingOptions(options: AcquireOptions, elapsed: number): AcquireOptions {
  const { waitTime } = options
  return waitTime === undefined ? options : { ...options, waitTime: waitTime - elapsed }
}

/** Resolves when the place no longer waits or the wait is over; rejects when the signal aborts. */
function decided(
  context: Context,
  scripts: AnyLockScripts,
  { place }: BranchEntry,
  { waitTime, signal }: AcquireOptions,
): Promise<void> {
  const joined = context.clock.now()
  return outsideThreads(() => {
    const stopWatching = context.queues.watchSelfWait(scripts, joined)
    let stopListening: (() => void) | undefined
    let timer = { cancel() {} }
    const either = new Promise<void>((resolve, reject) => {
      if (signal) stopListening = onAbort(signal, () => reject(signal.reason))
      if (waitTime !== undefined) timer = context.clock.after(waitTime, resolve)
      void place.decided().then(resolve)
    })
    return either.finally(() => {
      timer.cancel()
      stopListening?.()
      stopWatching()
    })
  })
}
