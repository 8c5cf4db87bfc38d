import { Redis } from 'ioredis'
import { type Standalone, startCluster, startStandalone } from '../../test/kit/servers/index'
import type { Place, SeveralServers } from './measuring'

/** The servers of a run, started when they are first asked for; they keep nothing on disk. */
export class Places {
  private readonly closing: (() => Promise<void> | void)[] = []
  private started: Promise<Place> | undefined
  private readonly members: Promise<{ server: Standalone; redis: Redis }>[] = []

  async single(): Promise<Place> {
    const { server, redis } = await this.start()
    return { address: { redis: server.url }, servers: [redis] }
  }

  readonly cluster = (): Promise<Place> => {
    this.started ??= this.startCluster()
    return this.started
  }

  /** Shared by all that ask. */
  readonly several = async (count: number): Promise<SeveralServers> => {
    while (this.members.length < count) this.members.push(this.start())
    const members = await Promise.all(this.members.slice(0, count))
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
    // Connections before their servers.
    for (const close of this.closing.reverse()) await close()
  }

  private async start() {
    const server = await startStandalone()
    this.closing.push(() => server.stop())
    return { server, redis: this.connect(server.url) }
  }

  private async startCluster(): Promise<Place> {
    const cluster = await startCluster()
    this.closing.push(() => cluster.stop())
    const urls = cluster.nodes.map(({ url }) => url)
    return { address: { cluster: urls }, servers: urls.map((url) => this.connect(url)) }
  }

  private connect(url: string): Redis {
    const redis = new Redis(url, { replyMapping: 'legacy' })
    this.closing.push(() => redis.disconnect())
    return redis
  }
}
