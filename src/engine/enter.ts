import type { BranchPlace } from '../ownership/branch-queue'
import { outsideThreads } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { withTimeout } from '../util/timeout'
import { type Acquisition, acquire } from './acquire'
import type { Hold, Level } from './hold'
import { reenter } from './reenter'

/** The hold of an ancestor, and the place of the caller below it. */
interface Branch {
  readonly hold: Hold
  readonly place: BranchPlace
}

/**
 * Adds a level to the hold that the caller re-enters, or acquires a new hold. Below the hold of an ancestor
 * it waits first until no sibling branch excludes the caller. Undefined when the wait was over.
 */
export async function enter(acquisition: Acquisition): Promise<Level | undefined> {
  const { client, kind, caller, signal } = acquisition
  client.assertWanted(signal)
  for (;;) {
    const branch = enterBranch(acquisition)
    let entered: Level | 'again' | undefined
    try {
      if (branch && !(await untilInside(acquisition, branch))) return undefined
      const own = caller.holdOf(kind.objectId)
      entered = await (own ? reenter(acquisition, own) : acquire(acquisition))
      if (entered !== 'again') return entered
    } finally {
      if (typeof entered !== 'object') branch?.place.leave()
      else if (branch) entered.take(branch.place)
    }
  }
}

/**
 * Enters, or queues, below the hold of an ancestor; undefined if there is no such hold. One path of the tree
 * of threads holds the lock: siblings exclude each other below a hold, like other callers outside it.
 */
function enterBranch({ kind, caller }: Acquisition): Branch | undefined {
  if (!caller.thread?.parent) return undefined
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
