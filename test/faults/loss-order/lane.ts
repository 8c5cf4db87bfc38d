import type { RedissonOptions } from '../../../src/index'
import { startProxy, startStandalone } from '../../kit/servers/index'
import type { Standalone } from '../../kit/servers/standalone'
import type { TcpProxy } from '../../kit/servers/tcp-proxy'
import { Contender } from './contender'
import { Holder } from './holder'

/** What one round at a time happens on: a server, a process that holds, another client that waits. */
export interface Lane {
  readonly holder: Holder
  readonly contender: Contender
  /** How the holder reaches the server. */
  readonly redis: RedissonOptions['redis']
  stop(): Promise<void>
}

export interface StandaloneLane extends Lane {
  readonly server: Standalone
  /** Between the holder and the server. */
  readonly proxy: TcpProxy
}

export async function standaloneLane(): Promise<StandaloneLane> {
  const server = await startStandalone()
  const [proxy, holder, contender] = await Promise.all([
    startProxy(server),
    Holder.start(),
    Contender.connect({ host: server.host, port: server.port }),
  ])
  const stop = async () => {
    holder.kill()
    await contender.close()
    await proxy.stop()
    await server.stop()
  }
  return { server, proxy, holder, contender, redis: proxy.url, stop }
}
