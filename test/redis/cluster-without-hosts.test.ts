import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { freshCluster, freshServer, needs, waitUntil, withClient } from '../kit/servers/index'

describe('A cluster that names no hosts', () => {
  before(async function () {
    await needs(this, 'sharded pub/sub')
  })

  async function excludesAndWakes(redis: object, name = uniqueName()): Promise<void> {
    const [one, other] = [
      await createRedisson({ redis: redis as never }),
      await createRedisson({ redis: redis as never }),
    ]
    const hold = await one.getLock(name).acquire()
    const waiting = other.getLock(name).tryAcquire({ waitTime: 20_000 })
    await waitUntil('the other waits', async () => other.stats().waiting === 1)
    await hold.unlock()
    await (await waiting)!.unlock()
  }

  it('A single node that does not know its address is reached where it was found', async () => {
    const server = await freshServer({ config: ['cluster-enabled yes'] })
    const redis = { nodes: [{ host: server.host, port: server.port }] }
    const error = await rejection(Redisson.create({ redis }))
    expect(error.message).to.match(/no node.*slots/)
    await withClient(server, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383'))
    await waitUntil('the cluster is up', () =>
      withClient(server, async (client) => /state:ok/.test(String(await client.cluster('INFO')))),
    )
    await excludesAndWakes(redis)
  })

  it('Nodes with unknown endpoints are reached at the host in use, also after a move', async () => {
    const setup = await freshCluster({ config: ['cluster-preferred-endpoint-type unknown-endpoint'] })
    const redis = { nodes: [{ host: setup.nodes[0]!.host, port: setup.nodes[0]!.port }] }
    for (let at = 0; at < 6; at++) await excludesAndWakes(redis)
    const redisson = await createRedisson({ redis })
    const name = uniqueName()
    await redisson.getLock(name).withLock(() => {})
    const owner = setup.nodes.indexOf(await setup.ownerOf(calculateSlot(name)))
    await setup.migrateSlot(calculateSlot(name), (owner + 1) % 3)
    await redisson.getLock(name).withLock(() => {})
    await excludesAndWakes(redis, name)
  })

  it('Nodes that prefer host names are reached by these', async () => {
    const setup = await freshCluster({
      config: ['cluster-preferred-endpoint-type hostname', 'cluster-announce-hostname localhost'],
    })
    const redis = { nodes: [{ host: setup.nodes[0]!.host, port: setup.nodes[0]!.port }] }
    for (let at = 0; at < 3; at++) await excludesAndWakes(redis)
  })
})
