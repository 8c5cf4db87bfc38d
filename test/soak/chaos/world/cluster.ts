import { setTimeout as sleep } from 'node:timers/promises'
import { Mutex } from 'async-mutex'
import calculateSlot from 'cluster-key-slot'
import { Cluster } from 'ioredis'
import {
  type ClusterSetup,
  type RedisNode,
  type Standalone,
  startCluster,
  startProxy,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../../kit/servers/index'
import { leaveCluster } from '../../../kit/servers/leave-cluster'
import { info } from '../../../kit/servers/with-client'
import { resyncReplicas } from './resync'
import { JAVA, userLines } from './rights'
import { address, hostAndPort, type Topology } from './topology'

export async function clusterTopology(users: readonly string[]): Promise<Topology> {
  // A replica that is restarted must not find what it was sent before.
  const config = [...userLines(users), 'rdb-del-sync-files yes']
  const setup = await startCluster({ replicas: 1, config })
  const observer = new Cluster(setup.nodes.map(address), {
    redisOptions: { commandTimeout: 1_000, maxRetriesPerRequest: 0 },
  })
  observer.on('error', () => {})
  const primaryOf = (lock: string) => setup.ownerOf(calculateSlot(lock))
  // One change of the cluster after the other: a slot cannot move to a node that is being replaced.
  const changes = new Mutex()
  const change = async (make: () => Promise<void>) =>
    changes.runExclusive(async () => {
      await nodesAgree(setup)
      await make()
    })
  return {
    name: 'cluster',
    lockWatchdogTimeout: 6_000,
    nodes: setup.nodes,
    observer,
    route: (proxied, login) => ({
      node: {
        nodes: setup.nodes.map((node) => address(proxied(node))),
        options: {
          redisOptions: login,
          natMap: Object.fromEntries(setup.nodes.map((node) => [hostAndPort(node), address(proxied(node))])),
        },
      },
      java: {
        mode: 'cluster',
        addresses: setup.nodes.map((node) => hostAndPort(proxied(node))),
        ...login,
        natMap: Object.fromEntries(
          setup.nodes.map((node) => [hostAndPort(node), hostAndPort(proxied(node))]),
        ),
      },
    }),
    primaryOf,
    failover: (lock) =>
      change(async () => {
        const old = await primaryOf(lock)
        await setup.votesForgotten(shardOf(setup, old))
        await setup.failover(shardOf(setup, old))
        await isReplica(old)
      }),
    killPrimary: (lock) =>
      change(async () => {
        const old = await primaryOf(lock)
        await setup.votesForgotten(shardOf(setup, old))
        await old.kill()
        await setup.failover(shardOf(setup, old))
        await old.restart()
        await isReplica(old)
      }),
    moveSlot: (lock) =>
      change(async () => {
        const owner = await primaryOf(lock)
        const primaries = await primariesOf(setup)
        const at = primaries.indexOf(owner)
        const target = primaries[(at + 1) % primaries.length]!
        await setup.migrateSlot(calculateSlot(lock), setup.nodes.indexOf(target))
      }),
    leave: (lock, wasReset, lastsMs, replaced) =>
      change(async () => {
        const old = await primaryOf(lock)
        await setup.votesForgotten(shardOf(setup, old))
        const isBack = await leaveCluster(setup.nodes, old, wasReset)
        replaced()
        await sleep(lastsMs)
        await isBack()
        await isReplica(old)
      }),
    resync: async (lock, lastsMs, waiting) => {
      const primary = await primaryOf(lock)
      const shard = setup.nodes.filter((node) => shardOf(setup, node) === shardOf(setup, primary))
      const replicas = shard.filter((node) => node !== primary)
      // It finds its place in the cluster on disk, and no data.
      await resyncReplicas({ primary, replicas, restart: (node) => node.restart() }, lastsMs, waiting)
      await Promise.all(replicas.map(isReplica))
    },
    stop: async () => {
      observer.disconnect()
      await setup.stop()
    },
  }
}

/** The three first primaries, then one replica of each. */
const shardOf = ({ nodes }: ClusterSetup, node: RedisNode): number => nodes.indexOf(node) % 3

async function primariesOf({ nodes }: ClusterSetup): Promise<RedisNode[]> {
  const roles = await Promise.all(nodes.map((node) => replicationOf(node)))
  return nodes.filter((_, i) => roles[i]!.get('role') === 'master')
}

/**
 * All nodes know each other's configuration epochs. A node that imports a slot raises its own without asking the others: if
 * it dies before they have heard, the replica in its place may get the same epoch, and they never accept it.
 */
async function nodesAgree({ nodes }: ClusterSetup): Promise<void> {
  const agree = async () => {
    const views = await Promise.all(nodes.map(epochsSeenBy))
    return views.every((view) => view === views[0])
  }
  await waitUntil('all nodes of the cluster know the same epochs', agree, 10_000, 50)
}

async function epochsSeenBy(node: RedisNode): Promise<string> {
  const lines = await withClient(node, (client) => client.cluster('NODES'))
  const epochs = String(lines)
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , flags = '']) => flags.includes('master'))
    .map(([id, , , , , , epoch]) => `${id} ${epoch}`)
  return epochs.sort().join('\n')
}

async function isReplica(node: RedisNode): Promise<void> {
  const follows = async () => {
    const replication = await replicationOf(node)
    return replication.get('role') === 'slave' && replication.get('master_link_status') === 'up'
  }
  await waitUntil('the old primary follows the new one', follows, 30_000, 50)
}

const replicationOf = (node: RedisNode) => withClient(node, (client) => info(client, 'replication'))

const WRITES_PAUSED_MS = 10_000

/** A server behind a name, which is the address of a proxy. The name can move to a second server that has the same data. */
export class MovableServer implements RedisNode {
  readonly host: string
  readonly port: number
  readonly url: string

  private constructor(
    private readonly name: TcpProxy,
    private current: Standalone,
    private spare: Standalone,
  ) {
    ;({ host: this.host, port: this.port, url: this.url } = name)
  }

  static async behindName(current: Standalone, spare: Standalone): Promise<MovableServer> {
    return new MovableServer(await startProxy(current), current, spare)
  }

  kill: RedisNode['kill'] = (signal) => this.current.kill(signal)
  pause: RedisNode['pause'] = () => this.current.pause()
  resume: RedisNode['resume'] = () => this.current.resume()
  restart: RedisNode['restart'] = (options) => this.current.restart(options)
  log: RedisNode['log'] = () => this.current.log()

  /**
   * Moves the name. No write is lost, and the old server lives on as a primary. It closes the connections of commands, and keeps those
   * of the subscribers, but for Java: Redisson would leave them there.
   */
  async move(): Promise<void> {
    const { current, spare } = this
    const hasAllUntil = (offset: number) =>
      waitUntil('the other server has all writes', () =>
        withClient(spare, async (other) => {
          const replication = await info(other, 'replication')
          const isUp = replication.get('master_link_status') === 'up'
          return isUp && Number(replication.get('slave_repl_offset')) >= offset
        }),
      )
    await withClient(spare, (other) => other.replicaof(current.host, current.port))
    await hasAllUntil(0)
    await withClient(current, async (redis) => {
      await redis.call('CLIENT', 'PAUSE', WRITES_PAUSED_MS, 'WRITE')
      await hasAllUntil(Number((await info(redis, 'replication')).get('master_repl_offset')))
      await withClient(spare, (other) => other.replicaof('NO', 'ONE'))
      this.name.pointTo(spare)
      ;[this.current, this.spare] = [spare, current]
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub', 'USER', JAVA)
      await redis.call('CLIENT', 'UNPAUSE')
    })
  }

  async stop(): Promise<void> {
    await this.name.stop()
    // Both run on one machine, which ends with either of them.
    await this.current.stop()
  }
}
