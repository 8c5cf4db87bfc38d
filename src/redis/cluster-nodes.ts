import type { Cluster } from 'ioredis'
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

/** A primary that can be asked at once, and a slot of it; none before the cluster is ready. */
export function readyNode(cluster: Cluster): AskedNode | undefined {
  if (cluster.status !== 'ready') return undefined
  const primaries = cluster.nodes('master').filter(({ status }) => status === 'ready')
  const at = new Map(primaries.map((node) => [`${node.options.host}:${node.options.port}`, node]))
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
