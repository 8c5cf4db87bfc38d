import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../../../kit/servers/index'
import { micros } from '../evidence/records'
import { type Capacity, lastLateCopy } from '../judges/capacity'
import type { Court } from '../judges/court'
import { permitsOf } from './object-watch'
import type { Topology } from './topology'

/** What is released in the background is released within this. */
const SETTLED_WITHIN = 45_000

/** At the end: the permits of each generation are as many as there are, but for those of killed processes. */
export async function checkPermits(
  topology: Topology,
  court: Court,
  total: (name: string) => number,
): Promise<void> {
  const capacities = [...court.capacities.values()].filter((each) => !each.isSpoiled(micros()))
  if (capacities.length === 0) return
  // What arrives late must not change anything any more.
  const wait = (lastLateCopy(court.disturbances) - micros()) / 1_000
  if (wait > 0) await sleep(wait + 1_000)
  await Promise.all(
    capacities.map(async (capacity) => {
      let found = ''
      const isRight = async () => {
        const { free = 0, out: all, expired } = await permitsOf(topology, capacity.name)
        const { least, most } = capacity.heldByKilled
        // A process was killed with a permit, and nothing has called the semaphore since that permit expired.
        const out = all - expired
        const held = total(capacity.name) - free - expired
        found = `${free} are free, ${expired} expired and ${out} out of ${total(capacity.name)}; killed processes hold ${least} to ${most}`
        return held >= least && held <= most && out === 0
      }
      await waitUntil('the permits are all there', isRight, SETTLED_WITHIN, 200).catch(() => {
        if (isUsed(capacity)) court.violation('permits', micros(), `${capacity.name} at the end: ${found}`)
      })
    }),
  )
}

/** A generation that was over before any process had set it has no permits. */
const isUsed = ({ grants }: Capacity): boolean => grants > 0
