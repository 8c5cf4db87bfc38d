import type { Cluster, Redis } from 'ioredis'
import type { AskedNode } from './fast-path/raw-command'

/**
 * Where a node is reached that the servers call by this address: by the cluster's natMap, which ioredis applies to its
 * map of slots when it reads that, but not to what MOVED has it write there.
 */
export function reachedAt(cluster: Cluster, node: string): string {
  const { natMapper } = cluster as unknown as { natMapper(node: string): { host: string; port: number } }
  const { host, port } = natMapper.call(cluster, node)
  return `${host}:${port}`
}

/** How ioredis names a node. */
export function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`
}

/** The primaries that serve slots, by where they are reached. */
export function servingNodes(cluster: Cluster): Set<string> {
  const announced = new Set(cluster.slots.flatMap((nodes) => nodes?.[0] ?? []))
  return new Set([...announced].map((node) => reachedAt(cluster, node)))
}

/** A primary that can be asked at once, and a slot of it; none before the cluster is ready. */
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
