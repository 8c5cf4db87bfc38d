import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { ScriptTransport } from '../../src/scripts/transport'
import { createRedisson, uniqueName } from '../kit/clients'
import { ownCluster } from '../kit/servers/index'

describe('A cluster without replicas', () => {
  const setup = ownCluster({ replicas: 0 })

  /** A client, and how many commands it has sent by the connection that waits for replicas. */
  async function counted() {
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
    return { redisson, acknowledged: () => acknowledged }
  }

  it('Acquisitions use the WAIT connection once a second, and the faster one else', async () => {
    const { redisson, acknowledged } = await counted()
    const lock = redisson.getLock(uniqueName())
    const started = performance.now()
    for (let cycle = 0; cycle < 300; cycle++) await lock.withLock(() => {})
    const seconds = (performance.now() - started) / 1_000
    expect(acknowledged()).to.be.within(1, Math.ceil(seconds) + 1)
  })

  it("An acquisition that another node answers waits for that node's replicas (V42)", async () => {
    const { redisson, acknowledged } = await counted()
    const name = uniqueName('{asks}')
    const slot = calculateSlot(name)
    const target = (setup.nodes.indexOf(await setup.ownerOf(slot)) + 1) % 3
    const outer = await redisson.getLock(name).acquire()
    await setup.migrateSlot(slot, target, async () => {
      for (let round = 0; round < 20; round++) {
        // The source answers ASK for a name that it does not have.
        const before = acknowledged()
        const lock = redisson.getLock(`${name} ${round}`)
        expect(await lock.tryLock()).to.equal(true)
        expect(acknowledged()).to.be.greaterThan(before)
        await lock.unlock()
        expect(await lock.isLocked()).to.equal(false)
      }
    })
    await outer.unlock()
  })
})
