import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { type Address, freshServer, waitUntil } from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

describe('A server that comes back with the certificate of another authority', () => {
  /** Replaces the proxy after the client has reported that nothing listens there. */
  async function replace(proxy: TlsProxy, to: Address, redisson: Redisson): Promise<Error[]> {
    const errors = eventsOf(redisson, 'error')
    const { port } = proxy
    await proxy.close()
    // A cluster asks a node only when a command is for it.
    await redisson
      .getLock(uniqueName())
      .tryLock(100)
      .catch(() => {})
    await waitUntil('the outage is reported', () => errors.length > 0)
    expect(errors[0]!.message).to.not.contain('TLS')
    await TlsProxy.open(to, port)
    return errors
  }

  it('An event and every call that waits in vain say that TLS is refused, and why (guarantee 8)', async () => {
    const server = await freshServer()
    const proxy = await TlsProxy.open(server)
    const redis = { host: 'localhost', port: proxy.port, tls: { ca: readFileSync(proxy.certificate) } }
    const redisson = await createRedisson({ redis }, { unavailableAfter: 1_500 })
    const errors = await replace(proxy, server, redisson)
    const error = await rejection(redisson.getLock(uniqueName()).tryLock())
    expect(error.code).to.equal('REDIS_UNAVAILABLE')
    expect(error.message).to.contain('TLS failed: self-signed certificate')
    expect(errors.map(({ message }) => message).join('\n')).to.contain('TLS failed: self-signed certificate')
  })
})
