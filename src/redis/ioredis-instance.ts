import type { Cluster, ClusterNode, Redis, RedisOptions } from 'ioredis'
import type { RedisInstance } from '../api/redis-source'
import { selectedDatabase, startNodesOf } from './ioredis-internals'

const METHODS = ['connect', 'disconnect', 'duplicate', 'sendCommand', 'on']

/** Recognises ioredis 5 and 6 by members that no other client has. The class may differ: there may be several copies of it. */
export function isRedis(source: object): source is Redis {
  return isInstance(source, METHODS) && 'connector' in source && 'offlineQueue' in source
}

export function isCluster(source: object): source is Cluster {
  const { isCluster } = source as { isCluster?: unknown }
  return isCluster === true && startNodesOf(source) !== undefined && isInstance(source, [...METHODS, 'nodes'])
}

function isInstance(source: object, methods: readonly string[]): boolean {
  const { status, options } = source as Partial<RedisInstance>
  return typeof status === 'string' && typeof options === 'object' && hasMethods(source, methods)
}

function hasMethods(source: object, methods: readonly string[]): boolean {
  return methods.every((name) => typeof (source as Record<string, unknown>)[name] === 'function')
}

/** Whether the object looks like a client of any library, and not like options. */
export function isSomeClient(source: object): boolean {
  return ['connect', 'duplicate', 'sendCommand'].some((name) => hasMethods(source, [name]))
}

/** The options of an instance, with the database in which it is. */
export function optionsOf(redis: Redis): RedisOptions {
  return { ...redis.options, db: selectedDatabase(redis) }
}

/** The nodes that a cluster knows now, or its start nodes while it knows none. */
export function nodesOf(cluster: Cluster): readonly ClusterNode[] {
  const current = cluster.nodes('all').map(({ options }) => options as ClusterNode)
  return current.length > 0 ? current : startNodesOf(cluster)!
}
