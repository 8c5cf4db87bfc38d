import { setTimeout as sleep } from 'node:timers/promises'
import type { Ended } from '../../../../tools/simulator/judge/history'
import { waitUntil, withClient } from '../../../kit/servers/index'
import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
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
}

/** Nothing is broken any more: all callers come to an end of their turns. Resolves with what is left then. */
export async function leftOver(after: Leftovers): Promise<Omit<Ended, 'type' | 'at'>> {
  const { topology, workforce, judge, endsWithinMs, watch } = after
  const java = workforce.java?.finish(endsWithinMs)
  const reports = await Promise.all(workforce.node.map((worker) => worker.finish(endsWithinMs)))
  if ((await java) === false) console.error('\nSome Java threads never came to an end of their turn')
  watch.stop()
  const clients: Ended['clients'][number][] = []
  for (const [i, report] of reports.entries()) {
    const { name } = workforce.node[i]!
    if (!report) judge.violation('stuck', micros(), `${name} never came to an end of its turns`, name)
    else clients.push({ client: name, left: report.left })
    for (const error of report?.unexpected ?? [])
      judge.violation('unexpected', micros(), `${name}: ${error}`, name)
  }
  await settlePermits(topology, judge)
  const [keys, channels] = await leftOnServers(after)
  await Promise.all(
    workforce.node.map(async (worker) => {
      if (await worker.endsByItself(10_000)) return
      judge.violation('left-over', micros(), `${worker.name} does not end after its shutdown`, worker.name)
    }),
  )
  return {
    keys: keys.map((key) => ({ key, ttl: -1 })),
    channels: channels.map((channel) => ({ channel, subscribers: 1 })),
    clients,
  }
}

/** Keys of locks, and channels, after some time. */
async function leftOnServers({ topology, locks, workforce }: Leftovers): Promise<[string[], string[]]> {
  // A reader or a process that was killed leaves its hold to the lease.
  const keys = await whatStays(30_000, async () => {
    const there = await Promise.all(locks.map(async ({ name }) => (await topology.observer.exists(name)) > 0))
    return locks.flatMap(({ name }, i) => (there[i] ? name : []))
  })
  // They count as subscribed until they are closed.
  for (const network of workforce.networks()) network.dropLate()
  // Java unsubscribes at its own pace, and its clients keep channels of their own.
  await workforce.java?.kill()
  const channels = await whatStays(10_000, async () => {
    const found = await Promise.all(
      topology.nodes.flatMap((node) =>
        ['CHANNELS', 'SHARDCHANNELS'].map((kind) =>
          withClient(node, (client) => client.call('PUBSUB', kind, 'redisson*') as Promise<string[]>),
        ),
      ),
    )
    return [...new Set(found.flat())]
  })
  return [keys, channels]
}

async function whatStays(within: number, look: () => Promise<string[]>): Promise<string[]> {
  await waitUntil('nothing is left', async () => (await look()).length === 0, within).catch(() => {})
  return await look()
}

/** What is released in the background is released within this. */
const SETTLED_WITHIN = 45_000

/** The judge sees the permits of each generation once more when none is on its way any more. */
async function settlePermits(topology: Topology, judge: Judge): Promise<void> {
  const names = judge.unspoiled.filter((name) => judge.unitsOf(name) > 0)
  if (names.length === 0) return
  // What arrives late must not change anything any more.
  const wait = (judge.disturbances.lastLateCopy() - micros()) / 1_000
  if (wait > 0) await sleep(wait + 1_000)
  await Promise.all(
    names.map(async (name) => {
      const areThere = async () => {
        const askedAt = micros()
        const { free = 0, out, expired } = await permitsOf(topology, name)
        // No call has come since that would have freed what expired.
        const owners = out.slice(expired)
        judge.seen({ name, askedAt, answeredAt: micros(), owners: out, value: free })
        return { isWhole: free + expired >= judge.unitsOf(name) - judge.heldByKilled(name), owners }
      }
      await waitUntil(
        'the permits are all there',
        async () => (await areThere()).isWhole,
        SETTLED_WITHIN,
        200,
      ).catch(() => {})
      const { owners } = await areThere()
      if (owners.length === 0) return
      judge.violation('permits', micros(), `${owners.length} permits of ${name} are out at the end`)
    }),
  )
}
