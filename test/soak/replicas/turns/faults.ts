import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedissonOptions } from '../../../../src/index'
import type { RedissonSettings } from '../../../kit/java/index'
import { insist, replicateInCluster, through } from '../../../kit/replication'
import {
  type RedisNode,
  type SentinelSetup,
  startCluster,
  startSentinel,
  withClient,
} from '../../../kit/servers/index'
import { NoFailover } from '../world'

/** The servers of one round. */
export interface Servers {
  readonly redis: RedissonOptions['redis']
  /** The same for a Java peer. */
  readonly java: RedissonSettings
  /** Replaces the primary. Resolves with when the new one answered first as a primary, by `performance.now()`. */
  replace(): Promise<number>
  stop(): Promise<void>
}

export interface Fault {
  readonly title: string
  /** The longest time without a turn that this page promises, in ms since the new primary answered first. */
  readonly limit: number
  start(): Promise<Servers>
}

/** The hash tag of a slot of the first shard. */
export const TAG = 'bar'
const FAILED_OVER = 60_000
/** After this long, in ms, the other nodes take a primary for dead; Redis's own default is 15 s. */
const NODE_TIMEOUT = 5_000
/** How far a replica that lags is behind, in ms. */
const LAG = 300
const IN_CLUSTER = 1_000
const BEHIND_SENTINEL = 3_000

/** Asks all replicas for their role until one is a primary. */
async function promoted(replicas: readonly RedisNode[], order: () => Promise<unknown>): Promise<number> {
  const connections = replicas.map(({ host, port }) => {
    const redis = new Redis({ host, port, retryStrategy: () => 20, maxRetriesPerRequest: null })
    redis.on('error', () => {})
    return redis
  })
  try {
    await Promise.all(connections.map((redis) => redis.ping()))
    let answered: number | undefined
    const watching = connections.map(async (redis) => {
      while (answered === undefined) {
        const [role] = (await redis.role()) as [string]
        if (role === 'master') answered ??= performance.now()
        await sleep(5)
      }
    })
    const ordered = order()
    const until = sleep(FAILED_OVER, 'late', { ref: false })
    if ((await Promise.race([...watching, until])) === 'late') throw new NoFailover('no replica was promoted')
    await ordered
    return answered!
  } finally {
    for (const redis of connections) redis.disconnect()
  }
}

/** The primary stands still until a replica has been promoted, and goes on a moment later. */
async function stopAndContinue(primary: RedisNode, replicas: readonly RedisNode[]): Promise<number> {
  const answered = await promoted(replicas, () => primary.pause())
  await sleep(Math.random() * 2_000)
  await primary.resume()
  return answered
}

type Way = (primary: RedisNode, replica: RedisNode) => Promise<number>

const ordered =
  (how: 'FORCE' | 'TAKEOVER'): Way =>
  (_, replica) =>
    promoted([replica], () =>
      withClient(replica, (client) => client.call('CLUSTER', 'FAILOVER', how) as Promise<unknown>),
    )

function inCluster(title: string, replace: Way, lag = 0): Fault {
  return {
    title,
    limit: IN_CLUSTER,
    async start() {
      const cluster = await insist(() =>
        startCluster({ replicas: 1, config: [`cluster-node-timeout ${NODE_TIMEOUT}`] }),
      )
      const [primary] = cluster.nodes
      const replica = cluster.nodes[3]!
      const lagging = lag > 0 ? await replicateInCluster(primary!, replica) : undefined
      lagging?.proxy.delay(lag)
      return {
        redis: {
          nodes: cluster.nodes.map(({ host, port }) => ({ host, port })),
          ...(lagging && { options: { natMap: lagging.natMap } }),
        },
        java: {
          mode: 'cluster',
          addresses: cluster.nodes.map(({ url }) => url),
          scanInterval: 1_000,
          ...(lagging && {
            natMap: { [`${lagging.proxy.host}:${lagging.proxy.port}`]: `${primary!.host}:${primary!.port}` },
          }),
        },
        replace: () => replace(primary!, replica),
        stop: async () => {
          await lagging?.proxy.stop()
          await cluster.stop()
        },
      }
    },
  }
}

function behindSentinel(
  title: string,
  replicas: number,
  replace: (setup: SentinelSetup, primary: RedisNode, replicas: readonly RedisNode[]) => Promise<number>,
): Fault {
  return {
    title: `${title}, ${replicas === 1 ? 'one replica' : 'two replicas'}`,
    limit: BEHIND_SENTINEL,
    async start() {
      const setup = await insist(() => startSentinel({ replicas }))
      const [primary, ...others] = setup.nodes
      return {
        redis: through(setup),
        java: {
          mode: 'sentinel',
          masterName: setup.name,
          addresses: setup.sentinels.map(({ url }) => url),
        },
        replace: () => replace(setup, primary!, others),
        stop: () => setup.stop(),
      }
    },
  }
}

const byOrder = (setup: SentinelSetup, _: RedisNode, replicas: readonly RedisNode[]) =>
  promoted(replicas, () =>
    withClient(setup.sentinels[0]!, (client) => client.call('SENTINEL', 'FAILOVER', setup.name)),
  )

export const FAULTS: readonly Fault[] = [
  inCluster('Cluster: FAILOVER FORCE', ordered('FORCE')),
  inCluster('Cluster: FAILOVER TAKEOVER', ordered('TAKEOVER')),
  inCluster(`Cluster: FAILOVER FORCE, replica ${LAG} ms behind`, ordered('FORCE'), LAG),
  inCluster('Cluster: SIGSTOP and SIGCONT', (primary, replica) => stopAndContinue(primary, [replica])),
  inCluster('Cluster: kill -9', (primary, replica) => promoted([replica], () => primary.kill())),
  ...[1, 2].flatMap((replicas) => [
    behindSentinel('SENTINEL FAILOVER', replicas, byOrder),
    behindSentinel('Sentinel: SIGSTOP and SIGCONT', replicas, (_, primary, others) =>
      stopAndContinue(primary, others),
    ),
    behindSentinel('Sentinel: kill -9', replicas, (_, primary, others) =>
      promoted(others, () => primary.kill()),
    ),
  ]),
]
