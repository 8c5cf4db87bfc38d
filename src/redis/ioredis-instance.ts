import type { Cluster, ClusterNode, Redis } from 'ioredis'
import { startNodesOf } from './ioredis-internals'

/** Recognises ioredis 5 and 6 by members that no other client has. The class may differ: there may be several copies of it. */
export function isRedis(source: object): source is Redis {
  return isInstance(source) && 'connector' in source && 'offlineQueue' in source
}

export function isCluster(source: object): source is Cluster {
  return isInstance(source) && 'isCluster' in source && startNodesOf(source) !== undefined
}

function isInstance(source: object): boolean {
  const { status, options } = source as { status?: unknown; options?: unknown }
  return typeof status === 'string' && typeof options === 'object' && isSomeClient(source)
}

/** Whether the object looks like a client of any library, and not like options. */
export function isSomeClient(source: object): boolean {
  const members = source as Record<string, unknown>
  const methods = ['connect', 'duplicate', 'sendCommand', 'disconnect', 'quit', 'on']
  return methods.some((name) => typeof members[name] === 'function')
}

/** The nodes that a cluster knows now, or its start nodes while it knows none. */
export function nodesOf(cluster: Cluster): readonly ClusterNode[] {
  const current = cluster.nodes('all').map(({ options }) => options as ClusterNode)
  return current.length > 0 ? current : startNodesOf(cluster)!
}
