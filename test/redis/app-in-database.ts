import type { RedissonOptions } from '../../src/index'
import { openProxy } from '../kit/proxies'
import { type Address, freshSentinel, freshServer, type TcpProxy, withClient } from '../kit/servers/index'

const USER = ['user app on >app ~* &* +@all']
/** The database of the app. */
export const DB = 5

/** A server with a user `app`, whose right to SELECT a test can take away. */
export interface Place {
  /** Everything the app opens goes here. */
  readonly app: RedissonOptions['redis']
  readonly server: Address
  readonly proxy: TcpProxy
}

export async function standalone(): Promise<Place> {
  const server = await freshServer({ config: USER })
  const proxy = await openProxy(server)
  const app = { host: proxy.host, port: proxy.port, username: 'app', password: 'app', db: DB }
  return { app, server, proxy }
}

export async function behindSentinel(): Promise<Place> {
  const setup = await freshSentinel({ config: USER })
  const server = setup.nodes[0]!
  // Busy is as good as down to a sentinel; this is not about failovers.
  for (const sentinel of setup.sentinels)
    await withClient(sentinel, (client) =>
      client.call('SENTINEL', 'SET', setup.name, 'down-after-milliseconds', 600_000),
    )
  const proxy = await openProxy(server)
  const app = {
    sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })),
    name: setup.name,
    natMap: { [`${server.host}:${server.port}`]: { host: proxy.host, port: proxy.port } },
    username: 'app',
    password: 'app',
    db: DB,
  }
  return { app, server, proxy }
}
