import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Redisson, type RedissonOptions } from '../../src/index'
import { type Certificate, Certificates } from '../kit/certificates'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { errorMessagesOf, eventsOf } from '../kit/observing'
import { freePorts } from '../kit/servers/free-ports'
import {
  freshCluster,
  freshSentinel,
  freshServer,
  type Standalone,
  skipInContainers,
  waitUntil,
  withClient,
} from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

const WATCHDOG = 3_000

describe('TLS options that a function returns', () => {
  const certificates = new Certificates()
  let first: Certificate
  let second: Certificate
  let expired: Certificate

  before(async function () {
    await skipInContainers(this, 'the files of its certificates are on this machine')
    first = await certificates.make()
    second = await certificates.make()
    expired = await certificates.make({ isExpired: true })
  })
  after(() => certificates.remove())

  const filesOf = ({ certPath, keyPath }: Certificate, authority = certPath) =>
    [
      ['tls-cert-file', certPath],
      ['tls-key-file', keyPath],
      ['tls-ca-cert-file', authority],
    ] as const

  /** A server with TLS beside its plain port. */
  async function startWithTls(files: readonly (readonly [string, string])[], authClients: 'yes' | 'no') {
    const [port] = (await freePorts(1)) as [number]
    const lines = files.map((file) => file.join(' '))
    const config = [`tls-port ${port}`, `tls-auth-clients ${authClients}`, ...lines]
    return { server: await freshServer({ config }), port }
  }

  /** The next connections see other files, and all present ones end, as when the server restarts. */
  async function restartWith(
    server: Standalone,
    files: readonly (readonly [string, string])[],
  ): Promise<void> {
    await withClient(server, async (admin) => {
      await admin.call('CONFIG', 'SET', ...files.flat())
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    })
  }

  /** Holds locks and lets another client wait, while `change` replaces what both sides use. */
  async function keepsLocksThrough(
    redis: RedissonOptions['redis'],
    change: () => Promise<void>,
  ): Promise<void> {
    const open = () => createRedisson({ redis, lockWatchdogTimeout: WATCHDOG })
    const [holder, other] = [await open(), await open()]
    const lost = eventsOf(holder, 'lockLost')
    const holds = await Promise.all([1, 2, 3].map(() => holder.getLock(uniqueName()).acquire()))
    const waiting = other.getLock(holds[0]!.lockName).acquire()
    await waitUntil('it waits', () => other.stats().waiting === 1 && other.stats().channels === 1)
    await change()
    await (await holder.getLock(uniqueName()).acquire()).unlock()
    const ends = performance.now() + WATCHDOG
    await waitUntil('every lease was renewed since', () => performance.now() > ends)
    expect(lost).to.deep.equal([])
    expect(holds.every((hold) => hold.isHeld)).to.equal(true)
    for (const hold of holds) await hold.unlock()
    await (await waiting).unlock()
    await Promise.all([holder, other].map((client) => client.shutdown()))
  }

  it('Locks are kept while a server comes back with the certificate of another authority', async () => {
    const { server, port } = await startWithTls(filesOf(first), 'no')
    let ca = first.pem.cert
    const tls = async () => ({ ca })
    await keepsLocksThrough({ host: 'localhost', port, tls }, async () => {
      await restartWith(server, filesOf(second))
      ca = second.pem.cert
    })
    const redis = { url: `redis://localhost:${port}`, tls: () => ({ ca: first.pem.cert }) }
    const error = await rejection(Redisson.create({ redis: { ...redis, connectTimeout: 500 } }))
    expect(error.message).to.contain('TLS failed')
  })

  it('An expired client certificate is told as TLS, and locks are kept with the next', async () => {
    const { server, port } = await startWithTls(filesOf(first), 'yes')
    let own = first
    const tls = () => ({ ca: first.pem.cert, ...own.pem })
    await keepsLocksThrough({ host: 'localhost', port, tls }, async () => {
      own = expired
      await restartWith(server, filesOf(first, expired.certPath))
      const error = await rejection(
        Redisson.create({ redis: { host: 'localhost', port, connectTimeout: 700, tls } }),
      )
      expect(error.message).to.match(/TLS.*certificate/)
      own = second
      await restartWith(server, filesOf(first, second.certPath))
    })
  })

  it('With constant TLS options events say what to do before the leases end', async () => {
    const { server, port } = await startWithTls(filesOf(first), 'no')
    const redis = { host: 'localhost', port, tls: { ca: first.pem.cert } }
    const redisson = await createRedisson({ redis, lockWatchdogTimeout: WATCHDOG })
    const errors = errorMessagesOf(redisson)
    const hold = await redisson.getLock(uniqueName()).acquire()
    await restartWith(server, filesOf(second))
    await waitUntil('the hold is told', () => hold.signal.aborted)
    // The key lives on for the rest of its lease.
    expect(await withClient(server, (admin) => admin.pttl(hold.lockName))).to.be.above(0)
    expect(errors.join('\n')).to.match(/TLS failed: self.signed certificate.*tls as a function/)
  })

  // With TLS 1.2 the alert of the server always arrives, with TLS 1.3 sometimes only the end of the connection.
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`With a constant client certificate that ${maxVersion} refuses the events say what to do`, async () => {
      const { server, port } = await startWithTls(filesOf(first), 'yes')
      const redis = { host: 'localhost', port, tls: { ca: first.pem.cert, ...first.pem, maxVersion } }
      const redisson = await createRedisson({ redis, lockWatchdogTimeout: WATCHDOG })
      const errors = errorMessagesOf(redisson)
      redisson.on('unavailable', ({ error }) => errors.push(error.message))
      const hold = await redisson.getLock(uniqueName()).acquire()
      await restartWith(server, filesOf(first, second.certPath))
      await waitUntil('the hold is told', () => hold.signal.aborted)
      for (const error of errors) expect(error).to.match(/TLS.*certificate.*tls as a function/)
      expect(errors).to.not.be.empty
    })

  it('Behind Sentinel, the sentinels and the servers are asked for by functions of their own', async () => {
    const setup = await freshSentinel()
    const primary = await setup.primary()
    const targets = [primary, ...setup.sentinels]
    let [server, ...sentinels] = await Promise.all(targets.map((to) => TlsProxy.open(to)))
    const asked = { tls: 0, sentinelTLS: 0 }
    const redis: RedissonOptions['redis'] = {
      sentinels: sentinels.map(({ port }) => ({ host: 'localhost', port })),
      name: setup.name,
      natMap: { [`${primary.host}:${primary.port}`]: { host: 'localhost', port: server!.port } },
      // The sentinels tell of each other by addresses that have no TLS here.
      updateSentinels: false,
      tls: () => {
        asked.tls++
        return { ca: readFileSync(server!.certificate) }
      },
      sentinelTLS: async () => {
        asked.sentinelTLS++
        return { ca: sentinels.map(({ certificate }) => readFileSync(certificate)) }
      },
    }
    await keepsLocksThrough(redis, async () => {
      const before = { ...asked }
      const ports = [server!, ...sentinels].map(({ port }) => port)
      await Promise.all([server!, ...sentinels].map((proxy) => proxy.close()))
      ;[server, ...sentinels] = await Promise.all(targets.map((to, at) => TlsProxy.open(to, ports[at])))
      await waitUntil(
        'both were asked',
        () => asked.tls > before.tls && asked.sentinelTLS > before.sentinelTLS,
      )
    })
  })

  it('In a cluster each connection to a node asks', async () => {
    const config = ['tls-auth-clients no', 'tls-cluster no', ...filesOf(first).map((file) => file.join(' '))]
    const setup = await freshCluster({ config })
    const ports = await freePorts(setup.nodes.length)
    for (const [at, node] of setup.nodes.entries())
      await withClient(node, (admin) => admin.call('CONFIG', 'SET', 'tls-port', `${ports[at]}`))
    let ca = first.pem.cert
    const natMap = Object.fromEntries(
      setup.nodes.map(({ host, port }, at) => [`${host}:${port}`, { host: 'localhost', port: ports[at]! }]),
    )
    // With a port of each kind a node announces to a connection with TLS the port with TLS.
    const nodes = [{ host: 'localhost', port: ports[0]! }]
    const options = { natMap, redisOptions: { tls: () => ({ ca }) } }
    await keepsLocksThrough({ nodes, options } as RedissonOptions['redis'], async () => {
      await Promise.all(setup.nodes.map((node) => restartWith(node as never, filesOf(second))))
      ca = second.pem.cert
    })
  })

  it('A function that fails or gives no options is asked again', async () => {
    const { server, port } = await startWithTls(filesOf(first), 'no')
    let answer: unknown
    const redis = { host: 'localhost', port, tls: () => answer as never, connectTimeout: 2_000 }
    const error = await rejection(Redisson.create({ redis }))
    expect(error.message).to.contain('tls function failed').and.to.contain('options for tls.connect')
    answer = { ca: first.pem.cert }
    const redisson = await createRedisson({ redis })
    answer = undefined
    await restartWith(server, filesOf(first))
    const failed = await rejection(redisson.getLock(uniqueName()).tryLock(500))
    expect(failed).to.have.property('code', 'REDIS_UNAVAILABLE')
    answer = { ca: first.pem.cert }
    await redisson.getLock(uniqueName()).withLock(() => {})
  })
})
