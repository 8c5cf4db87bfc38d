import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Address } from '../../../test/kit/servers/index'

export interface AlteringProxy {
  readonly url: string
  stop(): void
}

/** A proxy before a real server that alters what the server answers. The altered text must have the same length. */
export async function startAlteringProxy(
  { host, port }: Address,
  alter: (answer: string) => string,
): Promise<AlteringProxy> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(port, host)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => client.write(alter(chunk.toString('latin1')), 'latin1'))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    stop() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
