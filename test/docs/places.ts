import type { Example } from '../kit/docs/pages'
import { type Standalone, sharedCluster, sharedSentinel } from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

/** The servers that examples name, and what stands for them here. Each kind is started where an example needs it. */
export class Places {
  private constructor(
    readonly replacements: ReadonlyMap<string, string>,
    private readonly tls: TlsProxy | undefined,
  ) {}

  static async open(server: Standalone, examples: readonly Example[]): Promise<Places> {
    const named = (text: string) => examples.some(({ code }) => code.includes(text))
    const replacements = new Map([
      ['redis://127.0.0.1:6379', server.url],
      ["host: '127.0.0.1', port: 6379", `host: '${server.host}', port: ${server.port}`],
      [`\${REDIS_HOST:127.0.0.1}`, server.host], // an application.yml
      [`\${REDIS_PORT:6379}`, String(server.port)],
    ])
    let tls: TlsProxy | undefined
    if (named('redis.example.com')) {
      tls = await TlsProxy.open(server)
      replacements.set("host: 'redis.example.com', port: 6380", `host: 'localhost', port: ${tls.port}`)
      replacements.set("'ca.pem'", JSON.stringify(tls.certificate))
    }
    if (named('sentinel-1')) {
      const { sentinels, name } = await sharedSentinel()
      for (const [at, { host, port }] of sentinels.entries())
        replacements.set(`host: 'sentinel-${at + 1}', port: 26379`, `host: '${host}', port: ${port}`)
      replacements.set("name: 'mymaster'", `name: '${name}'`)
    }
    if (named('redis-node-1')) {
      const { nodes } = await sharedCluster()
      for (const [at, { url }] of nodes.entries())
        replacements.set(`redis://redis-node-${at + 1}:6379`, url.replace(/\/$/, ''))
    }
    return new Places(replacements, tls)
  }

  async close(): Promise<void> {
    await this.tls?.close()
  }
}
