import type { TopologyName } from '../plan/catalogue'
import { clusterTopology } from './cluster'
import { sentinelTopology } from './sentinel'
import { standaloneTopology } from './standalone'
import type { Topology } from './topology'

const OPENERS: Readonly<Record<TopologyName, (users: readonly string[]) => Promise<Topology>>> = {
  standalone: standaloneTopology,
  sentinel: sentinelTopology,
  cluster: clusterTopology,
}

export const openTopology = (name: TopologyName, users: readonly string[]): Promise<Topology> =>
  OPENERS[name](users)
