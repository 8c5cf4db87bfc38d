import { Redis } from 'ioredis'
import { startStandalones } from '../../../kit/servers/index'
import type { TopologyName } from '../plan/catalogue'
import { clusterTopology, MovableServer } from './cluster'
import { BUSY_SOON, userLines } from './rights'
import { sentinelTopology } from './sentinel'
import { address, DATABASE, hostAndPort, type Topology } from './topology'

export async function standaloneTopology(users: readonly string[]): Promise<Topology> {
  const config = [...userLines(users), BUSY_SOON, 'repl-diskless-sync-delay 0']
  const options = { appendonly: true, config }
  const [first, second] = await startStandalones(options, options)
  const server = await MovableServer.behindName(first!, second!)
  const observer = new Redis(server.url, { db: DATABASE, commandTimeout: 1_000, maxRetriesPerRequest: 0 })
  observer.on('error', () => {})
  return {
    name: 'standalone',
    lockWatchdogTimeout: 3_000,
    nodes: [server],
    observer,
    route: (proxied, login) => ({
      node: { ...address(proxied(server)), ...login, db: DATABASE, keepAlive: 0 },
      java: { addresses: [hostAndPort(proxied(server))], ...login, database: DATABASE },
    }),
    primaryOf: async () => server,
    restart: (keepData) => server.restart({ keepData }),
    moveName: () => server.move(),
    stop: async () => {
      observer.disconnect()
      await server.stop()
    },
  }
}

const OPENERS: Readonly<Record<TopologyName, (users: readonly string[]) => Promise<Topology>>> = {
  standalone: standaloneTopology,
  sentinel: sentinelTopology,
  cluster: clusterTopology,
}

export const openTopology = (name: TopologyName, users: readonly string[]): Promise<Topology> =>
  OPENERS[name](users)
