import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import {
  type RedisNode,
  type SentinelSetup,
  sameAddress,
  startSentinel,
  waitUntil,
  withClient,
} from '../../../kit/servers/index'
import { info } from '../../../kit/servers/with-client'
import { resyncReplicas } from './resync'
import { BUSY_SOON, userLines } from './rights'
import { address, DATABASE, hostAndPort, type Topology } from './topology'

/**
 * ms. The slow scripts of `select-busy` make the primary answer BUSY, which sentinels count as no answer. On a busy machine it
 * looked dead for a second, and they replaced it without the schedule, and so without the judge, knowing.
 */
const DOWN_AFTER = 2_500

export async function sentinelTopology(users: readonly string[]): Promise<Topology> {
  const setup = await startSentinel({ config: [...userLines(users), BUSY_SOON], downAfter: DOWN_AFTER })
  const { name } = setup
  const sentinels = setup.sentinels.map(address)
  const observer = new Redis({
    sentinels,
    name,
    db: DATABASE,
    commandTimeout: 1_000,
    maxRetriesPerRequest: 0,
    // A primary that was replaced goes on as one for some ten seconds.
    failoverDetector: true,
    sentinelReconnectStrategy: () => 500,
  })
  observer.on('error', () => {})
  const watchers = setup.sentinels.map(({ host, port }) => new Redis({ host, port, protocol: 2 }))
  const primary = () => primaryOf(setup)
  return {
    name: 'sentinel',
    lockWatchdogTimeout: 6_000,
    nodes: setup.nodes,
    observer,
    route: (proxied, login) => ({
      node: {
        sentinels,
        name,
        ...login,
        db: DATABASE,
        natMap: Object.fromEntries(setup.nodes.map((node) => [hostAndPort(node), address(proxied(node))])),
      },
      java: {
        mode: 'sentinel',
        addresses: sentinels.map(hostAndPort),
        masterName: name,
        ...login,
        database: DATABASE,
        natMap: Object.fromEntries(
          setup.nodes.map((node) => [hostAndPort(node), hostAndPort(proxied(node))]),
        ),
      },
    }),
    primaryOf: primary,
    onFailover: (begun, over) => {
      for (const watcher of watchers) {
        watcher.on('pmessage', (_pattern, event: string, what: string) => {
          if (event === '+sdown' && what.startsWith('master')) begun()
          else if (event === '+switch-master' || (event === '-sdown' && what.startsWith('master'))) over()
        })
        // Not one pattern [+-]*: Redis reads that as a range of characters, and no event matches it.
        void watcher.psubscribe('+*', '-*')
      }
    },
    failover: async () => {
      await settled(setup)
      await setup.failover()
      await settled(setup)
    },
    killPrimary: async () => {
      await settled(setup)
      const old = await primary()
      await old.kill()
      await setup.waitForNewPrimary(old)
      const successor = await primary()
      // Not as the primary it was, which sentinels would mend some ten seconds later: until then a Redisson that
      // connects to its address anew takes it for one.
      await old.restart({ keepData: false, config: [`replicaof ${successor.host} ${successor.port}`] })
      await settled(setup)
    },
    replaceUnheard: async (lastsMs, replaced) => {
      await settled(setup)
      for (const sentinel of setup.sentinels) {
        await sentinel.restart()
        await settled(setup)
      }
      const old = await primary()
      const obeying = (rights: string) =>
        withClient(old, (client) =>
          client.call('ACL', 'SETUSER', 'default', `${rights}replicaof`, `${rights}slaveof`),
        )
      await obeying('-')
      try {
        await setup.failover()
        replaced()
        await sleep(lastsMs)
      } finally {
        await obeying('+')
      }
      await settled(setup)
    },
    resync: async (_lock, lastsMs, waiting) => {
      await settled(setup)
      const followed = await primary()
      const again = [`replicaof ${followed.host} ${followed.port}`]
      const replicas = setup.nodes.filter((node) => node !== followed)
      // By the configuration it was started with: sentinels rewrite the file.
      const restart = (node: RedisNode) => node.restart({ keepData: false, config: again })
      await resyncReplicas({ primary: followed, replicas, restart }, lastsMs, waiting)
      await settled(setup)
    },
    stop: async () => {
      for (const each of [observer, ...watchers]) each.disconnect()
      await setup.stop()
    },
  }
}

async function primaryOf(setup: SentinelSetup): Promise<RedisNode> {
  const primary = await setup.primary()
  return setup.nodes.find((node) => sameAddress(node, primary))!
}

/** All sentinels agree, and two replicas follow the primary: only then is another failover sure to come about. */
async function settled(setup: SentinelSetup): Promise<void> {
  await waitUntil('the sentinels and the replicas have settled', () => isSettled(setup), 60_000, 100)
}

async function isSettled(setup: SentinelSetup): Promise<boolean> {
  const views = await Promise.all(
    setup.sentinels.map((sentinel) =>
      withClient(sentinel, async (client) => {
        const answer = (await client.call('SENTINEL', 'MASTER', setup.name)) as string[]
        const view = new Map(answer.flatMap((field, i) => (i % 2 === 0 ? [[field, answer[i + 1]]] : [])))
        return `${view.get('ip')}:${view.get('port')} ${view.get('flags')}`
      }),
    ),
  )
  const primary = await primaryOf(setup)
  if (views.some((view) => view !== `${hostAndPort(primary)} master`)) return false
  return await withClient(primary, async (client) => {
    const lines = [...(await info(client, 'replication')).values()]
    return lines.filter((value) => value.includes('state=online')).length === 2
  })
}
