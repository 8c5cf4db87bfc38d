import { type BranchPlace, HoldBranches } from '../ownership/branch-place'
import { outsideThreads } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { withTimeout } from '../util/timeout'
import { ANCESTOR_ACQUIRED } from '../waiting/waiter'
import type { AcquireRequest } from './acquire'
import type { Hold } from './hold'

/**
 * Enters below the hold of an ancestor, waits until no sibling branch excludes the caller, and then acquires. Usually there
 * is no such hold, and it acquires at once. Undefined when the wait was over.
 */
export async function waitForSiblingBranches<Result>(
  request: AcquireRequest,
  acquire: (request: AcquireRequest) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  request.assertWanted()
  for (;;) {
    const entry = enterBranch(request)
    const place = entry?.place
    request.branchPlace = place
    try {
      const isInside =
        !entry || entry.place.state === 'inside' || (await untilInside(request, entry.hold, entry.place))
      const acquired = isInside ? await acquire(request) : undefined
      if (!acquired) place?.leave()
      return acquired
    } catch (error) {
      place?.leave()
      if (error !== ANCESTOR_ACQUIRED) throw error
    }
  }
}

/**
 * Enters, or queues, below the hold of an ancestor; undefined if there is no such hold. One path of the tree of threads holds
 * the lock: siblings exclude each other below a hold, like other callers outside it.
 */
function enterBranch({ scripts, caller }: AcquireRequest) {
  // Siblings that read below a reader do not exclude each other. For the read side, the hold above them is the write hold.
  const hold = caller.holdOf(scripts.exclusiveLockId ?? scripts.objectId)
  if (!hold) return undefined
  const path = caller.pathBelow(hold)
  if (path.length === 0 || !hold.checkLive()) return undefined
  hold.branches ??= new HoldBranches()
  return { hold, place: hold.branches.enter(path) }
}

/** Waits until the caller is inside, or until the hold or the thread has ended. False when the wait was over. */
async function untilInside(request: AcquireRequest, hold: Hold, place: BranchPlace): Promise<boolean> {
  if (request.isWaitOver) return false
  if (place.state === 'waiting') await decided(request, place)
  if (hold.state === 'lost') throw hold.lossError()
  return place.state !== 'waiting'
}

/** Resolves when the place no longer waits or the wait is over; rejects when the signal aborts. */
function decided({ context, scripts, waitTime, signal }: AcquireRequest, place: BranchPlace): Promise<void> {
  const joined = context.clock.now()
  return outsideThreads(() => {
    const stopWatching = context.queues.watchSelfWait(scripts, joined)
    const decision = place.decided()
    const inTime =
      waitTime === undefined ? decision : withTimeout(decision, waitTime, context.clock, () => {})
    return unlessAborted(inTime, signal).finally(stopWatching)
  })
}
