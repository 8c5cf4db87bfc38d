import { outsideThreads } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { withTimeout } from '../util/timeout'
import { ANCESTOR_ACQUIRED } from '../waiting/wait-errors'
import { type Acquisition, acquire } from './acquire'
import type { Hold, Level } from './hold'
import { reenterOrAcquire } from './reenter'

/**
 * Enters below the hold of an ancestor, waits until no sibling branch excludes the caller, and then acquires.
 * Usually there is no such hold, and it acquires at once. Undefined when the wait was over.
 */
export async function waitForSiblingBranches(acquisition: Acquisition): Promise<Level | undefined> {
  acquisition.assertWanted()
  for (;;) {
    const hold = enterBranch(acquisition)
    const place = acquisition.branchPlace
    let acquired: Level | undefined
    try {
      const isInside = !hold || place?.state === 'inside' || (await untilInside(acquisition, hold))
      if (!isInside) return undefined
      const own = acquisition.caller.holdOf(acquisition.kind.objectId)
      acquired = await (own ? reenterOrAcquire(acquisition, own) : acquire(acquisition))
      return acquired
    } catch (error) {
      if (error !== ANCESTOR_ACQUIRED) throw error
    } finally {
      if (!acquired) place?.leave()
    }
  }
}

/**
 * Enters, or queues, below the hold of an ancestor, and returns it; undefined if there is no such hold. One
 * path of the tree of threads holds the lock: siblings exclude each other below a hold, like other callers
 * outside it.
 */
function enterBranch(acquisition: Acquisition): Hold | undefined {
  const { kind, caller } = acquisition
  acquisition.branchPlace = undefined
  // Siblings that read below a reader do not exclude each other. For the read side, the hold above them is
  // the write hold.
  const hold = caller.holdOf(kind.exclusiveLockId ?? kind.objectId)
  if (!hold) return undefined
  const path = caller.pathBelow(hold)
  if (path.length === 0 || !hold.checkLive()) return undefined
  acquisition.branchPlace = hold.branches.enter(path)
  return hold
}

/**
 * Waits until the caller is inside, or until the hold or the thread has ended. False when the wait was over.
 */
async function untilInside(acquisition: Acquisition, hold: Hold): Promise<boolean> {
  const { client, kind, waitTime, signal } = acquisition
  const place = acquisition.branchPlace!
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
