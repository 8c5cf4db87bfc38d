import type { Redisson } from '../../src/index'
import { sharedCluster } from '../servers'
import { createRedisson } from '../support/clients'

/** A client on the shared cluster. */
export async function inCluster(): Promise<Redisson> {
  const { nodes } = await sharedCluster()
  return await createRedisson({ redis: { nodes: nodes.map(({ host, port }) => ({ host, port })) } })
}
