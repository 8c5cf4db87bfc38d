import { Redis } from 'ioredis'
import { type Standalone, startStandalone } from '../../test/kit/servers/index'
import type { SeveralServers } from './groups/group'

/** Servers for the members of a lock; started when they are first asked for, and shared by all that ask. */
export class MemberServers {
  private readonly started: Promise<{ server: Standalone; redis: Redis }>[] = []

  async several(count: number): Promise<SeveralServers> {
    while (this.started.length < count) this.started.push(start())
    const members = await Promise.all(this.started.slice(0, count))
    const [first, ...others] = members.map(({ server }) => server.url)
    const address = { redis: first!, others }
    const servers = members.map(({ redis }) => redis)
    const last = members.at(-1)!.server
    return {
      address,
      servers,
      butLast: { address, servers: servers.slice(0, -1) },
      stall: { begin: () => last.pause(), end: () => last.resume() },
    }
  }

  async close(): Promise<void> {
    for (const { server, redis } of await Promise.all(this.started)) {
      redis.disconnect()
      await server.stop()
    }
  }
}

async function start(): Promise<{ server: Standalone; redis: Redis }> {
  const server = await startStandalone()
  return { server, redis: new Redis(server.url, { replyMapping: 'legacy' }) }
}
