import type { Cluster, Redis } from 'ioredis'
import type { AskedNode } from './fast-path/raw-command'

/**
 * The address by which the client reaches a node, given the address that the servers use. Applies the natMap of the cluster.
 * ioredis applies it when it reads the map of slots, but not to entries that it writes after MOVED.
 */
export function reachedAt(cluster: Cluster, node: string): string {
  const { natMapper } = cluster as unknown as { natMapper(node: string): { host: string; port: number } }
  const { host, port } = natMapper.call(cluster, node)
  return `${host}:${port}`
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

/** A primary that is ready, and a slot of it; undefined before the cluster is ready. */
export function readyNode(cluster: Cluster): AskedNode | undefined {
  if (cluster.status !== 'ready') return undefined
  const primaries = cluster.nodes('master').filter(({ status }) => status === 'ready')
  const at = new Map(primaries.map((node) => [addressOf(node), node]))
  const seen = new Set<string>()
  for (const [slot, owners] of cluster.slots.entries()) {
    const owner = owners?.[0]
    if (owner === undefined || seen.has(owner)) continue
    seen.add(owner)
    const node = at.get(reachedAt(cluster, owner))
    if (node) return { node, slot }
  }
  return undefined
}
