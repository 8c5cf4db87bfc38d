import type { RedissonOptions } from '../../src/index'
import { openProxy } from './proxies'
import {
  type Address,
  type RedisNode,
  type SentinelSetup,
  sameAddress,
  type TcpProxy,
  waitUntil,
  withClient,
} from './servers/index'

/** For the option `redis` of a client. */
export function through({ sentinels, name }: SentinelSetup): RedissonOptions['redis'] {
  return { sentinels: sentinels.map(({ host, port }) => ({ host, port })), name }
}

/** On a busy machine sentinels sometimes need longer to find each other than a start is given. */
export async function insist<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === 3) throw error
    }
  }
}

export async function roles(
  setup: SentinelSetup,
): Promise<{ primary: RedisNode; replicas: readonly [RedisNode, RedisNode] }> {
  const address = await setup.primary()
  const [first, second] = setup.nodes.filter((node) => !sameAddress(node, address))
  const primary = setup.nodes.find((node) => sameAddress(node, address))!
  return { primary, replicas: [first!, second!] }
}

/** Why that cannot be done in a container. */
export const NO_PROXIES = 'its servers do not reach a proxy of this machine'

/**
 * Puts a proxy of its own between the primary and each of these replicas, so that one can be made to lag: what
 * a paused replica has not read yet would still reach it when it wakes.
 */
export async function replicateThroughProxies(
  setup: SentinelSetup,
  primary: Address,
  replicas: readonly RedisNode[],
): Promise<TcpProxy[]> {
  // The sentinels put a replica right that names another primary than they know; not while a test lasts.
  for (const sentinel of setup.sentinels)
    await withClient(sentinel, (client) =>
      client.call('SENTINEL', 'SET', setup.name, 'failover-timeout', 60_000),
    )
  return await Promise.all(
    replicas.map(async (replica) => {
      const proxy = await openProxy(primary)
      await withClient(replica, (client) => client.replicaof(proxy.host, proxy.port))
      await waitUntil('the replica is online through its proxy', () => isOnline(primary, replica))
      return proxy
    }),
  )
}

/**
 * Puts a proxy between the primary of a shard and its replica, which can then be made to lag. Clients need the natMap, because the
 * primary announces the address of the proxy.
 */
export async function replicateInCluster(primary: Address, replica: Address) {
  const proxy = await openProxy(primary)
  await withClient(primary, (client) => client.config('SET', 'cluster-announce-port', proxy.port))
  await waitUntil('the replica replicates through the proxy', () =>
    withClient(replica, async (client) => {
      const answer = await client.info('replication')
      return answer.includes(`master_port:${proxy.port}`) && answer.includes('master_link_status:up')
    }),
  )
  const natMap = { [`${proxy.host}:${proxy.port}`]: { host: primary.host, port: primary.port } }
  return { proxy, natMap }
}

/** Makes sentinels prefer this replica to the others, however far behind it is. */
export async function prefer(setup: SentinelSetup, replica: RedisNode): Promise<void> {
  await withClient(replica, (client) => client.config('SET', 'replica-priority', 1))
  for (const sentinel of setup.sentinels)
    await waitUntil('the sentinels know whom to prefer', () =>
      withClient(sentinel, async (client) => {
        const known = (await client.call('SENTINEL', 'REPLICAS', setup.name)) as string[][]
        return known.some(
          (fields) =>
            fieldOf(fields, 'port') === String(replica.port) && fieldOf(fields, 'slave-priority') === '1',
        )
      }),
    )
}

async function isOnline(primary: Address, replica: RedisNode): Promise<boolean> {
  const up = await withClient(replica, (client) => client.info('replication'))
  const seen = await withClient(primary, (client) => client.info('replication'))
  return (
    up.includes('master_link_status:up') &&
    new RegExp(`port=${replica.port},state=online.*lag=[01]\\b`).test(seen)
  )
}

function fieldOf(fields: readonly string[], field: string): string | undefined {
  return fields[fields.indexOf(field) + 1]
}

/** Resolves when the time to live of a key has grown. */
export async function isRenewed(node: Address, key: string): Promise<void> {
  let last = Number.POSITIVE_INFINITY
  await waitUntil(`${key} is renewed`, async () => {
    const before = last
    last = await withClient(node, (client) => client.pttl(key))
    return last > before
  })
}
