import calculateSlot from 'cluster-key-slot'
import { Redis } from 'ioredis'
import { uniqueName } from '../../kit/clients'
import { SLOT_COUNT } from '../../kit/servers/cluster-slots'
import { clusterInfo } from '../../kit/servers/cluster-view'
import { type ClusterSetup, type RedisNode, startCluster, waitUntil } from '../../kit/servers/index'
import type { Trouble } from './trouble'

export const nodesOf = ({ nodes }: ClusterSetup) => ({
  nodes: nodes.map(({ host, port }) => ({ host, port })),
})

/** A primary dies that has no replica: the others decline everything until it is back. */
export async function clusterDown(): Promise<Trouble> {
  const setup = await startCluster()
  const [first, second, dying] = setup.nodes as [RedisNode, RedisNode, RedisNode]
  const admin = new Redis({ host: first.host, port: first.port })
  const states = (state: string, of: readonly RedisNode[]) =>
    waitUntil(`the cluster is ${state}`, async () =>
      (await Promise.all(of.map(clusterInfo))).every((info) => info.get('cluster_state') === state),
    )
  return {
    source: nodesOf(setup),
    admin,
    newName() {
      for (;;) {
        const name = uniqueName()
        if (calculateSlot(name) < SLOT_COUNT / 3 - 1) return name
      }
    },
    async begin() {
      await dying.kill()
      await states('fail', [first, second])
    },
    async end() {
      await dying.restart()
      await states('ok', setup.nodes)
    },
    async stop() {
      admin.disconnect()
      await setup.stop()
    },
  }
}
