import { sameAddress } from './address'
import { membersKnownTo, myId } from './cluster-view'
import type { RedisNode } from './redis-node'
import { waitUntil } from './wait-until'
import { withClient } from './with-client'

/**
 * A node leaves its cluster, and a replica takes the place of a primary. The node stays up, keeps its connections to the clients and
 * answers PING. The other nodes do not know it any more, and it knows none of them. `wasReset`: it is empty, too. Resolves with what
 * brings it back as a replica of its successor.
 */
export async function leaveCluster(
  nodes: readonly RedisNode[],
  node: RedisNode,
  wasReset: boolean,
): Promise<() => Promise<void>> {
  const others = nodes.filter((each) => each !== node)
  const [id, ...ids] = await Promise.all([node, ...others].map(myId))
  const view = await membersKnownTo(node)
  const successor = view.find((member) => member.primaryId === id)
  const reset = async () => {
    // A primary must be empty.
    if (successor) await withClient(node, (redis) => redis.flushall())
    await withClient(node, (redis) => redis.call('CLUSTER', 'RESET', 'HARD'))
  }
  if (successor) {
    for (const other of ids) await withClient(node, (redis) => redis.call('CLUSTER', 'FORGET', other))
    await withClient(successor, (redis) => redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER'))
    await waitUntil('all other nodes know the new primary', async () => {
      const views = await Promise.all(others.map(membersKnownTo))
      return views.every((members) =>
        members.some(
          (member) => sameAddress(member, successor) && !member.primaryId && member.slots.length > 0,
        ),
      )
    })
  }
  if (wasReset) await reset()
  for (const other of others) await withClient(other, (redis) => redis.call('CLUSTER', 'FORGET', id!))
  return async () => {
    // With a new id, because the others refuse the old one for a minute.
    await reset()
    // It refuses theirs, too, unless it is told to meet each of them.
    for (const { host, port } of others)
      await withClient(node, (redis) => redis.call('CLUSTER', 'MEET', host, port))
    await waitUntil('the node knows its successor', async () => {
      await withClient(node, (redis) => redis.call('CLUSTER', 'REPLICATE', successor!.id))
      return true
    })
    await waitUntil('all nodes know it again', async () => {
      const views = await Promise.all(nodes.map(membersKnownTo))
      return views.every(
        (members) => members.length === nodes.length && members.every((member) => member.connected),
      )
    })
  }
}
