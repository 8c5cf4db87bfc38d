import type { Redisson } from '../../src/index'
import { createRedisson } from '../kit/clients'
import { sharedCluster } from '../kit/servers/index'

/** A client on the shared cluster. */
export async function inCluster(): Promise<Redisson> {
  const { nodes } = await sharedCluster()
  return await createRedisson({ redis: { nodes: nodes.map(({ host, port }) => ({ host, port })) } })
}
