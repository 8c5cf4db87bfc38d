import type { Cluster, ClusterNode, Redis, RedisOptions } from 'ioredis'
import type { RedisInstance } from '../api/redis-source'

const METHODS = ['connect', 'disconnect', 'duplicate', 'sendCommand', 'on']

/** By what versions 5 and 6 have in common and no other client has. There may be several copies, so not by class. */
export function isRedis(source: object): source is Redis {
  return isInstance(source, METHODS) && 'connector' in source && 'offlineQueue' in source
}

export function isCluster(source: object): source is Cluster {
  const { isCluster, startupNodes } = source as { isCluster?: unknown; startupNodes?: unknown }
  return isCluster === true && Array.isArray(startupNodes) && isInstance(source, [...METHODS, 'nodes'])
}

function isInstance(source: object, methods: readonly string[]): boolean {
  const { status, options } = source as Partial<RedisInstance>
  return typeof status === 'string' && typeof options === 'object' && hasMethods(source, methods)
}

function hasMethods(source: object, methods: readonly string[]): boolean {
  return methods.every((name) => typeof (source as Record<string, unknown>)[name] === 'function')
}

/** Looks like a client, of whichever kind, rather than like options. */
export function isSomeClient(source: object): boolean {
  return ['connect', 'duplicate', 'sendCommand'].some((name) => hasMethods(source, [name]))
}

/**
 * The options of an instance, with the database it works in now, where the caller selected another since it connected.
 */
export function optionsOf(redis: Redis): RedisOptions {
  const selected = (redis as unknown as { condition?: { select?: number } }).condition?.select
  return selected === undefined ? redis.options : { ...redis.options, db: selected }
}

/** The nodes a cluster knows now; those it starts from, where it knows none yet. */
export function nodesOf(cluster: Cluster): readonly ClusterNode[] {
  const current = cluster.nodes('all').map(({ options }) => options as ClusterNode)
  return current.length > 0 ? current : (cluster as unknown as { startupNodes: ClusterNode[] }).startupNodes
}
