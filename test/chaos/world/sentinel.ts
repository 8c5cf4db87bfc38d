import { Redis } from 'ioredis'
import {
  type RedisNode,
  type SentinelSetup,
  sameAddress,
  startSentinel,
  waitUntil,
  withClient,
} from '../../servers'
import { info } from '../../servers/with-client'
import { address, hostAndPort, type Topology } from './topology'

export async function sentinelTopology(): Promise<Topology> {
  const setup = await startSentinel()
  const { name } = setup
  const sentinels = setup.sentinels.map(address)
  const observer = new Redis({ sentinels, name, commandTimeout: 1_000, maxRetriesPerRequest: 0 })
  observer.on('error', () => {})
  const primary = () => primaryOf(setup)
  return {
    name: 'sentinel',
    lockWatchdogTimeout: 6_000,
    nodes: setup.nodes,
    observer,
    route: (proxied) => ({
      node: {
        sentinels,
        name,
        natMap: Object.fromEntries(setup.nodes.map((node) => [hostAndPort(node), address(proxied(node))])),
      },
      java: {
        mode: 'sentinel',
        addresses: sentinels.map(hostAndPort),
        masterName: name,
        natMap: Object.fromEntries(
          setup.nodes.map((node) => [hostAndPort(node), hostAndPort(proxied(node))]),
        ),
      },
    }),
    primaryOf: primary,
    failover: async () => {
      await setup.failover()
      await replicasOnline(await primary())
    },
    killPrimary: async () => {
      const old = await primary()
      await old.kill()
      // Soon after another failover the sentinels take their time, twice their failover-timeout at least.
      await waitUntil(
        'the sentinels agree on a successor',
        () => setup.waitForNewPrimary(old).then(() => true),
        90_000,
      )
      const successor = await primary()
      await old.restart()
      // The sentinels would see to it as well, some ten seconds later.
      await withClient(old, (client) => client.replicaof(successor.host, successor.port))
      await replicasOnline(successor)
    },
    stop: async () => {
      observer.disconnect()
      await setup.stop()
    },
  }
}

async function primaryOf(setup: SentinelSetup): Promise<RedisNode> {
  const primary = await setup.primary()
  return setup.nodes.find((node) => sameAddress(node, primary))!
}

async function replicasOnline(primary: RedisNode): Promise<void> {
  await waitUntil(
    'both replicas follow the new primary',
    () =>
      withClient(primary, async (client) => {
        const lines = [...(await info(client, 'replication')).values()]
        return lines.filter((value) => value.includes('state=online')).length === 2
      }),
    30_000,
    50,
  )
}
