import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { Redis, type RedisOptions } from 'ioredis'
import { Redisson } from '../../src/redisson'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { openUntilTheEnd } from '../kit/closing'
import { ownSentinel } from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

const PASSWORD = 'a-password-that-must-not-travel-in-clear'
/** The first byte of each connection that speaks TLS. */
const TLS_HANDSHAKE = 0x16

/** Notes every byte that a client sends, and passes it on. */
class Tap {
  readonly sent: Buffer[][] = []
  private readonly server: Server

  constructor(port: number) {
    this.server = createServer((socket) => {
      const chunks: Buffer[] = []
      this.sent.push(chunks)
      socket.on('data', (chunk) => chunks.push(chunk))
      const onward = connect(port, '127.0.0.1')
      socket.pipe(onward).pipe(socket)
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const)
        one.on('error', () => other.destroy()).on('close', () => other.destroy())
    })
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return (this.server.address() as AddressInfo).port
  }

  close(): void {
    this.server.close()
  }
}

describe('TLS behind Sentinel', () => {
  const setup = ownSentinel({ config: [`user app on >${PASSWORD} ~* &* +@all`] })
  let proxy: TlsProxy
  let tap: Tap
  let options: RedisOptions

  before(async () => {
    const { host, port } = await setup.primary()
    proxy = await TlsProxy.open({ host, port })
    tap = new Tap(proxy.port)
    options = {
      sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })),
      name: setup.name,
      username: 'app',
      password: PASSWORD,
      natMap: { [`${host}:${port}`]: { host: 'localhost', port: await tap.open() } },
    }
  })
  beforeEach(() => tap.sent.splice(0))
  after(() => tap.close())
  openUntilTheEnd()

  const tls = () => ({ ca: readFileSync(proxy.certificate) })

  function expectTls() {
    expect(tap.sent).to.have.length.above(0)
    for (const chunks of tap.sent) {
      const bytes = Buffer.concat(chunks)
      expect(bytes[0]).to.equal(TLS_HANDSHAKE)
      expect(bytes.includes(PASSWORD)).to.equal(false)
    }
  }

  it('Every byte to the servers behind Sentinel is TLS if the options have tls (V16)', async () => {
    const redisson = await createRedisson({
      redis: { ...options, enableTLSForSentinelMode: false, tls: tls() },
    })
    await redisson.getLock(uniqueName()).withLock(() => {})
    expectTls()
  })

  it("Every byte behind Sentinel is TLS if the caller's ioredis has tls (V16)", async () => {
    const yours = new Redis({ ...options, tls: tls(), lazyConnect: true, replyMapping: 'legacy' })
    const redisson = await createRedisson({ redis: yours })
    await redisson.getLock(uniqueName()).withLock(() => {})
    expectTls()
  })

  it('enableTLSForSentinelMode without tls is refused at once (V16)', async () => {
    const redis = { ...options, enableTLSForSentinelMode: true }
    const error = await rejection(Redisson.create({ redis }))
    expect(error).to.be.instanceOf(TypeError)
    expect(error.message).to.match(/enableTLSForSentinelMode/)
    expect(tap.sent).to.deep.equal([])
  })
})
