import { expect } from 'chai'
import type { ScriptTransport } from '../../src/scripts/transport'
import { closeAll, createRedisson, uniqueName } from '../kit/clients'
import { type ClusterSetup, startCluster } from '../kit/servers/index'

describe('A cluster without replicas', () => {
  let setup: ClusterSetup

  before(async () => {
    setup = await startCluster({ replicas: 0 })
  })
  afterEach(closeAll)
  after(() => setup.stop())

  it('Acquisitions use the connection that waits for replicas once a second, and the faster one else', async () => {
    let acknowledged = 0
    const counting = (transport: ScriptTransport): ScriptTransport => {
      const send = transport.sendAcknowledged.bind(transport)
      transport.sendAcknowledged = (...call) => {
        acknowledged++
        return send(...call)
      }
      return transport
    }
    const redis = { nodes: setup.nodes.map(({ host, port }) => ({ host, port })) }
    const redisson = await createRedisson({ redis }, { transport: counting })
    const lock = redisson.getLock(uniqueName())
    const started = performance.now()
    for (let cycle = 0; cycle < 300; cycle++) await lock.withLock(() => {})
    const seconds = (performance.now() - started) / 1_000
    expect(acknowledged).to.be.within(1, Math.ceil(seconds) + 1)
  })
})
