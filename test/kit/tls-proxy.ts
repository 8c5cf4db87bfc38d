import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import type { Address } from './servers/index'

/** Speaks TLS for a server that does not. */
export class TlsProxy {
  private constructor(
    private readonly server: Server,
    private readonly directory: string,
  ) {}

  /** With a certificate of its own for localhost, which openssl makes. */
  static async open(to: Address): Promise<TlsProxy> {
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
