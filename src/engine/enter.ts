import type { BranchPlace } from '../ownership/branch-queue'
import { outsideThreads } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { withTimeout } from '../util/timeout'
import { type Acquisition, acquire } from './acquire'
import type { Hold, Level } from './hold'
import { reenterOrAcquire } from './reenter'

/** A timer may end a fraction of a millisecond early: a wait with less than this left, in ms, is over. */
const SHORTEST_WAIT = 1

/** The hold of an ancestor, and the place of the caller below it. */
interface Branch {
  readonly hold: Hold
  readonly place: BranchPlace
}

/**
 * Enters below the hold of an ancestor, waits until no sibling branch excludes the caller, and then acquires.
 * Usually there is no such hold, and it acquires at once. Undefined when the wait was over.
 */
export async function waitForSiblingBranches(acquisition: Acquisition): Promise<Level | undefined> {
  acquisition.assertWanted()
  for (;;) {
    const branch = enterBranch(acquisition)
    let level: Level | undefined
    try {
      if (branch && !(await untilInside(acquisition, branch))) return undefined
      const own = acquisition.holdOfCaller
      level = await (own ? reenterOrAcquire(acquisition, own) : acquire(acquisition))
      if (branch) level?.take(branch.place)
    } finally {
      if (!level) branch?.place.leave()
    }
    // If not, an ancestor has acquired the lock meanwhile, and the caller enters below that hold.
    const isOver = acquisition.waitTime < SHORTEST_WAIT && !acquisition.holdOfCaller?.checkLive()
    if (level || isOver) return level
  }
}

/**
 * Enters, or queues, below the hold of an ancestor; undefined if there is no such hold. One path of the tree
 * of threads holds the lock: siblings exclude each other below a hold, like other callers outside it.
 */
function enterBranch({ kind, caller }: Acquisition): Branch | undefined {
  // Siblings that read below a reader do not exclude each other. For the read side, the hold above them is
  // the write hold.
  const hold = caller.holdOf(kind.exclusiveLockId ?? kind.objectId)
  if (!hold) return undefined
  const path = caller.pathBelow(hold)
  if (path.length === 0 || !hold.checkLive()) return undefined
  return { hold, place: hold.branches.enter(path) }
}

/**
 * Waits until the caller is inside, or until the hold or the thread has ended. False when the wait was over.
 */
async function untilInside(acquisition: Acquisition, { hold, place }: Branch): Promise<boolean> {
  const { client, kind, waitTime, signal } = acquisition
  if (place.state === 'inside') return true
  if (waitTime <= 0) return false
  const joined = client.clock.now()
  await outsideThreads(() => {
    const stopWatching = client.queues.selfWait.watch(kind, () => [{ joined }])
    const decision = withTimeout(place.decided(), waitTime, client.clock, () => {})
    return unlessAborted(decision, signal).finally(stopWatching)
  })
  if (hold.state === 'lost') throw hold.lossError()
  return place.state !== 'waiting'
}
