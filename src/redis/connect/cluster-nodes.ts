import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis'
import { NOT_SENT } from '../reply/errors'

/**
 * The address by which the client reaches a node, given the address that the servers use. Applies the natMap
 * of the cluster. ioredis applies it when it reads the map of slots, but not to entries that it writes after
 * MOVED.
 */
export function reachedAt(cluster: Cluster, node: string): string {
  const { natMap } = cluster.options
  const mapped = typeof natMap === 'function' ? natMap(node) : natMap?.[node]
  return mapped ? `${mapped.host}:${mapped.port}` : node
}

/**
 * The natMap of the caller. A redirection without a host means the host by which the client found the
 * cluster.
 */
export function completeNatMap([first]: readonly RedisOptions[], { natMap }: ClusterOptions) {
  const { host = 'localhost' } = first ?? {}
  return (node: string) => {
    const mapped = typeof natMap === 'function' ? natMap(node) : natMap?.[node]
    return mapped ?? (node.startsWith(':') ? { host, port: Number(node.slice(1)) } : null)
  }
}

/** The address by which the client reaches the primary that serves this slot. */
export function primaryOf(cluster: Cluster, slot: number): string | undefined {
  const node = cluster.slots[slot]?.[0]
  return node === undefined ? undefined : reachedAt(cluster, node)
}

/** The name of a node in ioredis. */
export function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`
}

/** The addresses by which the client reaches the primaries that serve slots. */
export function servingNodes(cluster: Cluster): Set<string> {
  const announced = new Set(cluster.slots.flatMap((nodes) => nodes?.[0] ?? []))
  return new Set([...announced].map((node) => reachedAt(cluster, node)))
}

/**
 * The connections to the primaries that serve slots. Rejects if there is none to one of them. ioredis drops a
 * node that is away, until it reads the map of slots again.
 */
export async function primaries(cluster: Cluster): Promise<Redis[]> {
  for (const isRead of [false, true]) {
    const serving = servingNodes(cluster)
    const nodes = cluster.nodes('master').filter((node) => serving.has(addressOf(node)))
    if (nodes.length > 0 && nodes.length === serving.size) return nodes
    if (!isRead) await new Promise((read) => cluster.refreshSlotsCache(read))
  }
  throw NOT_SENT
}
