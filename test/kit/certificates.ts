import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CONFIG = `
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost, IP:127.0.0.1
`

/** A key and a certificate for localhost, which is its own authority. */
export interface Certificate {
  readonly keyPath: string
  readonly certPath: string
  /** As options of `tls.connect` and of a server. */
  readonly pem: { readonly key: Buffer; readonly cert: Buffer }
}

/** Makes certificates with openssl, in a directory that `remove()` deletes. */
export class Certificates {
  private readonly directory = mkdtempSync(join(tmpdir(), 'rlock-tls-'))
  private made = 0

  async make({ isExpired = false } = {}): Promise<Certificate> {
    const directory = join(this.directory, `${++this.made}`)
    mkdirSync(directory)
    writeFileSync(join(directory, 'ca.conf'), CONFIG)
    writeFileSync(join(directory, 'index.txt'), '')
    writeFileSync(join(directory, 'serial'), '01')
    const [keyPath, certPath] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const subject = ['-subj', `/CN=localhost ${this.made}`]
    const openssl = (...args: string[]) => run('openssl', args, { cwd: directory })
    await openssl('req', ...kind, ...subject, '-keyout', keyPath, '-out', 'request.pem')
    const ends = isExpired ? '20210101000000Z' : '21000101000000Z'
    const dates = ['-startdate', '20200101000000Z', '-enddate', ends]
    const how = ['-selfsign', '-batch', '-notext', '-config', 'ca.conf', '-extensions', 'names']
    await openssl('ca', ...how, '-keyfile', keyPath, '-in', 'request.pem', '-out', certPath, ...dates)
    return { keyPath, certPath, pem: { key: readFileSync(keyPath), cert: readFileSync(certPath) } }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
