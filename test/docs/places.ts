import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import type { Example } from '../kit/docs/pages'
import { type Standalone, sharedCluster, sharedSentinel } from '../kit/servers/index'

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

/** Speaks TLS for a server that does not. */
class TlsProxy {
  private constructor(
    private readonly server: Server,
    private readonly directory: string,
  ) {}

  /** With a certificate of its own for localhost, which is made by openssl. */
  static async open(to: Standalone): Promise<TlsProxy> {
    const directory = mkdtempSync(join(tmpdir(), 'rlock-tls-'))
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    await promisify(execFile)('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert])
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket: TLSSocket) => {
      const onward = connect(to.port, to.host)
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TlsProxy(server, directory)
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  /** The path of the certificate, which is its own authority. */
  get certificate(): string {
    return join(this.directory, 'cert.pem')
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve))
    rmSync(this.directory, { recursive: true })
  }
}
