import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil, withClient } from '../../../kit/servers/index'
import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
import { type Capacity, lastLateCopy } from '../judges/capacity'
import type { Court } from '../judges/court'
import type { LockPlan } from '../plan/objects'
import type { KeyWatch } from './key-watch'
import { permitsOf } from './object-watch'
import type { Topology } from './topology'
import type { Workforce } from './workforce'

export interface Leftovers {
  readonly topology: Topology
  readonly workforce: Workforce
  readonly judge: Judge
  readonly locks: readonly LockPlan[]
  readonly endsWithinMs: number
  readonly watch: KeyWatch
  /** Looks at what else must be as it was. */
  readonly atTheEnd: () => Promise<void>
}

/** Nothing is broken any more: everybody comes to an end of his turns, and nothing may be left. */
export async function checkLeftovers(after: Leftovers): Promise<void> {
  const { workforce, judge, endsWithinMs, watch } = after
  const java = workforce.java?.finish(endsWithinMs)
  const reports = await Promise.all(workforce.node.map((worker) => worker.finish(endsWithinMs)))
  if ((await java) === false) console.error('\nSome Java threads never came to an end of their turn')
  watch.stop()
  for (const [i, report] of reports.entries()) {
    const { name } = workforce.node[i]!
    if (!report) {
      judge.violation('stuck', micros(), `${name} never came to an end of its turns`, name)
      continue
    }
    if (Object.keys(report.left).length > 0)
      judge.violation('leak', micros(), `${name} still keeps ${JSON.stringify(report.left)}`, name)
    for (const error of report.unexpected) judge.violation('unexpected', micros(), `${name}: ${error}`, name)
  }
  await after.atTheEnd()
  await checkServers(after)
  await Promise.all(
    workforce.node.map(async (worker) => {
      if (await worker.endsByItself(10_000)) return
      judge.violation('leak', micros(), `${worker.name} does not end after its shutdown`, worker.name)
    }),
  )
}

async function checkServers({ topology, judge, locks, workforce }: Leftovers): Promise<void> {
  // A reader or a process that was killed leaves its hold to the lease.
  const keys = async () => {
    const there = await Promise.all(locks.map(async ({ name }) => (await topology.observer.exists(name)) > 0))
    return locks.filter((_, i) => there[i]).map(({ name }) => name)
  }
  try {
    await waitUntil('all locks are gone', async () => (await keys()).length === 0, 30_000)
  } catch {
    judge.violation('leak', micros(), `keys are left: ${(await keys()).join(', ')}`)
  }
  // They count as subscribed until they are closed.
  for (const network of workforce.networks()) network.dropLate()
  // Java unsubscribes at its own pace, and its clients keep channels of their own.
  await workforce.java?.kill()
  const channels = async () => {
    const found = await Promise.all(
      topology.nodes.flatMap((node) =>
        ['CHANNELS', 'SHARDCHANNELS'].map((kind) =>
          withClient(node, (client) => client.call('PUBSUB', kind, 'redisson*') as Promise<string[]>),
        ),
      ),
    )
    return [...new Set(found.flat())]
  }
  try {
    await waitUntil('no channel is subscribed', async () => (await channels()).length === 0, 10_000)
  } catch {
    judge.violation('leak', micros(), `channels are still subscribed: ${(await channels()).join(', ')}`)
  }
}

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
