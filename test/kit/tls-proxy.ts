import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { closedLater } from './closing'
import type { Address } from './servers/index'

/** Speaks TLS for a server that does not. */
export class TlsProxy {
  private constructor(
    private readonly server: Server,
    private readonly directory: string,
    private readonly clients: ReadonlySet<Socket>,
  ) {}

  /** With a certificate of its own for localhost, which openssl makes. Closed after the test. */
  static async open(to: Address, port = 0): Promise<TlsProxy> {
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
    const clients = new Set<Socket>()
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
    server.on('connection', (client: Socket) => {
      clients.add(client)
      client.on('close', () => clients.delete(client))
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const proxy = new TlsProxy(server, directory, clients)
    return closedLater('proxy', proxy, () => proxy.close())
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  /** The path of the certificate, which is its own authority. */
  get certificate(): string {
    return join(this.directory, 'cert.pem')
  }

  /** Ends the connections of its clients, too. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve))
    for (const client of this.clients) client.destroy()
    await closed
    rmSync(this.directory, { recursive: true, force: true })
  }
}
