import { cpus, loadavg } from 'node:os'
import type { Cluster, Redis } from 'ioredis'
import type { RedissonOptions } from '../../../../src/index'
import type { RedissonSettings } from '../../../kit/java'
import { REDISSON_VERSIONS } from '../../../kit/java/index'
import { type Address, type RedisNode, waitUntil, withClient } from '../../../kit/servers/index'
import { info } from '../../../kit/servers/with-client'
import type { TopologyName } from '../plan/catalogue'

/** Not the one a connection begins in: a client that forgets its database must be seen to lock elsewhere. */
export const DATABASE = 5

/** How a worker logs in: each as a user of its own, so that one may lose a right and the others keep it. */
export interface Login {
  readonly username: string
  readonly password: string
}

/** How a client reaches the servers of a topology through proxies of its own. */
export interface Route {
  readonly node: RedissonOptions['redis']
  readonly java: RedissonSettings
}

/** Servers and what can be done to them. What makes no sense in a topology is absent. */
export interface Topology {
  readonly name: TopologyName
  /** Leases must outlast a failover, or no lock survives any. */
  readonly lockWatchdogTimeout: number
  /** Those that hold data. */
  readonly nodes: readonly RedisNode[]
  /** A connection that no fault is aimed at, for looking. */
  readonly observer: Redis | Cluster
  /** `proxied` tells the address of the proxy before a node. */
  route(proxied: (node: Address) => Address, login: Login): Route
  /** Where the lock's key lives now. */
  primaryOf(lock: string): Promise<RedisNode>
  /** Calls back when the servers begin to fail over by themselves, and when they have done so or thought better. */
  onFailover?(begun: () => void, over: () => void): void
  restart?(keepData: boolean): Promise<void>
  failover?(lock: string): Promise<void>
  /** Resolves when another has taken over and the dead one is back as its replica. */
  killPrimary?(lock: string): Promise<void>
  /**
   * The replicas of the lock's primary begin anew without data, and wait this many ms for their copy; calls back
   * when that wait begins. Resolves when they follow again.
   */
  resync?(lock: string, lastsMs: number, waiting: () => void): Promise<void>
  moveSlot?(lock: string): Promise<void>
  /** The name of the server moves to another one with the same data, and the old server lives on. */
  moveName?(): Promise<void>
  /**
   * The sentinels restart one after the other and then replace the primary, which lives on for this many ms without them. Calls
   * back when they have replaced it.
   */
  replaceUnheard?(lastsMs: number, replaced: () => void): Promise<void>
  /**
   * The primary of the lock leaves the cluster and is replaced. It still answers its clients for this many ms, and then comes back
   * as a replica. Calls back when it is replaced.
   */
  leave?(lock: string, wasReset: boolean, lastsMs: number, replaced: () => void): Promise<void>
  stop(): Promise<void>
}

export const hostAndPort = ({ host, port }: Address): string => `${host}:${port}`
export const address = ({ host, port }: Address): Address => ({ host, port })

/** Sends a command to every node; again where it met a fault: what was switched on must be switched off. */
export async function onEvery(nodes: readonly Address[], name: string, ...args: string[]): Promise<void> {
  await Promise.all(
    nodes.map((node) =>
      waitUntil(`${name} ${args.join(' ')} is answered`, () =>
        withClient(node, (client) => client.call(name, ...args)).then(() => true),
      ),
    ),
  )
}

/** What a run was made on. */
export interface RunMachine {
  readonly cores: number
  readonly node: string
  readonly redis: string
  readonly redisson: string | undefined
  /** Of the last minute, at the beginning and at the end. */
  readonly loads: readonly number[]
}

const load = (): number => Number(loadavg()[0]!.toFixed(1))

/** To be called when the run begins; what it answers, when it ends. */
export async function watchMachine(server: Redis, java: boolean): Promise<() => RunMachine> {
  const redis = (await info(server, 'server')).get('redis_version') ?? 'unknown'
  const begun = load()
  return () => ({
    ...{ cores: cpus().length, node: process.versions.node, redis, loads: [begun, load()] },
    redisson: java ? REDISSON_VERSIONS.newest : undefined,
  })
}
