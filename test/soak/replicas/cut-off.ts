import { performance } from 'node:perf_hooks'
import { insist, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
  type SentinelSetup,
  startProxy,
  startSentinel,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../kit/servers/index'
import type { Outcome, World } from './world'

/**
 * The network splits: on one side the primary and the holder of the lock, on the other the replicas, the
 * sentinels and another client. The sentinels promote a replica; the holder hears nothing of it.
 */
export async function cutOffTogether(world: World, config: readonly string[]): Promise<Outcome> {
  const setup = await insist(() => startSentinel({ config }))
  world.later(() => setup.stop())
  const { primary, replicas } = await roles(setup)
  const between = await startProxy(primary)
  await monitorThrough(setup, between)
  const links = await replicateThroughProxies(setup, primary, replicas)
  const asking = await Promise.all(setup.sentinels.map(startProxy))
  world.proxied([between, ...links, ...asking])
  await world.connect(
    {
      sentinels: asking.map(({ host, port }) => ({ host, port })),
      name: setup.name,
      updateSentinels: false,
      // On the holder's side nothing lies between it and the primary.
      natMap: { [`${between.host}:${between.port}`]: { host: primary.host, port: primary.port } },
    },
    through(setup),
  )
  await world.acquire()
  const at = performance.now()
  for (const proxy of [between, ...links]) proxy.stall()
  for (const proxy of asking) refuseAll(proxy)
  world.contend()
  await world.untilEntered()
  await world.untilAborted()
  return { kept: false, acquired: world.acquired, entered: world.enteredAt! - at, together: world.together }
}

function refuseAll(proxy: TcpProxy) {
  proxy.refuse()
  proxy.cut()
}

/** Lets the sentinels see the primary under the address of a proxy, and everybody who asks them. */
async function monitorThrough({ sentinels, name }: SentinelSetup, proxy: Address): Promise<void> {
  for (const sentinel of sentinels)
    await withClient(sentinel, async (client) => {
      await client.call('SENTINEL', 'REMOVE', name)
      await client.call('SENTINEL', 'MONITOR', name, proxy.host, proxy.port, 2)
      await client.call('SENTINEL', 'SET', name, 'down-after-milliseconds', 1_000)
    })
  for (const sentinel of sentinels)
    await waitUntil('every sentinel knows everybody again', () =>
      withClient(sentinel, async (client) => {
        const known = ((await client.call('SENTINEL', 'MASTER', name)) as string[]).join(' ')
        return known.includes('num-slaves 2') && known.includes('num-other-sentinels 2')
      }),
    )
}
