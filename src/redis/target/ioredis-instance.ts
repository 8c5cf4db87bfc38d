import type { Cluster, ClusterNode, Redis } from 'ioredis'

// What the client needs of a caller's instance beyond the public options of ioredis. What happens where
// another version differs:
//
// | what | why | if ioredis differs |
// | --- | --- | --- |
// | `condition`, `prevCondition` | the database that a caller's instance selected | `redis` is refused with a TypeError |
// | `startupNodes` | the nodes of a caller's cluster that has not connected | it is not recognised: a TypeError |

/**
 * Recognises ioredis 5 and 6 by members that no other client has. The class may differ: there may be several
 * copies of it.
 */
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

/**
 * The database in which an instance of the caller is, which it may have changed by SELECT. While an instance
 * reconnects, ioredis keeps it in `prevCondition`, and `condition` has the database of the options.
 */
export function selectedDatabase(redis: Redis): number | undefined {
  type Condition = { select?: number } | null
  const { condition, prevCondition } = redis as unknown as Record<string, Condition | undefined>
  if (!condition && !prevCondition && redis.status !== 'wait')
    throw new TypeError('the ioredis instance does not tell its database: give the address with the database')
  return (prevCondition ?? condition)?.select ?? redis.options.db
}

/** The nodes that a cluster of the caller was made with; undefined if this is no cluster of ioredis. */
export function startNodesOf(cluster: object): readonly ClusterNode[] | undefined {
  const { startupNodes } = cluster as { startupNodes?: unknown }
  return Array.isArray(startupNodes) ? startupNodes : undefined
}
