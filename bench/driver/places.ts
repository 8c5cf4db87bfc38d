import { Redis } from 'ioredis'
import { startCluster, startStandalone } from '../../test/kit/servers/index'
import type { Place } from './measuring'

/** The servers of a run, started when they are first asked for; they keep nothing on disk. */
export class Places {
  private readonly closing: (() => Promise<void> | void)[] = []
  private started: Promise<Place> | undefined

  async single(): Promise<Place> {
    const server = await startStandalone()
    this.closing.push(() => server.stop())
    return { address: { redis: server.url }, servers: [this.connect(server.url)] }
  }

  cluster(): Promise<Place> {
    this.started ??= this.startCluster()
    return this.started
  }

  async close(): Promise<void> {
    // Connections before their servers.
    for (const close of this.closing.reverse()) await close()
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
