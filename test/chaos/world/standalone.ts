import { Redis } from 'ioredis'
import { startStandalone } from '../../servers'
import { address, hostAndPort, type Topology } from './topology'

export async function standaloneTopology(): Promise<Topology> {
  const server = await startStandalone({ appendonly: true })
  const observer = new Redis(server.url, { commandTimeout: 1_000, maxRetriesPerRequest: 0 })
  observer.on('error', () => {})
  return {
    name: 'standalone',
    lockWatchdogTimeout: 3_000,
    nodes: [server],
    observer,
    route: (proxied) => ({
      node: { ...address(proxied(server)), keepAlive: 0 },
      java: { addresses: [hostAndPort(proxied(server))] },
    }),
    primaryOf: async () => server,
    restart: (keepData) => server.restart({ keepData }),
    stop: async () => {
      observer.disconnect()
      await server.stop()
    },
  }
}
