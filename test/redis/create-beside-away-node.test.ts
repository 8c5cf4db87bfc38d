import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Redisson } from '../../src/redisson'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { type ClusterSetup, startCluster } from '../kit/servers/index'

/** Of a connect timeout of 10 s. */
const QUICKLY = 6_000

describe('Redisson.create in a cluster of which a primary hangs', () => {
  let setup: ClusterSetup
  const names: string[] = []

  before(async () => {
    setup = await startCluster({ config: ['cluster-require-full-coverage no'] })
    while (names.length < 3) {
      const name = uniqueName()
      if ((await setup.ownerOf(calculateSlot(name))) !== setup.nodes[1]) names.push(name)
    }
    await setup.nodes[1]!.pause()
  })
  after(async () => {
    await setup.nodes[1]!.resume()
    await setup.stop()
  })

  const nodes = () => setup.nodes.map(({ host, port }) => ({ host, port }))

  // The node accepts connections and never answers. ioredis asks nodes at random.
  it('create() in a cluster with a hanging primary succeeds each time (V39)', async () => {
    for (let times = 0; times < 10; times++) {
      const took = await timed(async () => {
        const redisson = await Redisson.create({ redis: { nodes: nodes() } })
        await redisson.shutdown({ timeout: 0 })
      })
      expect(took).to.be.below(QUICKLY)
    }
  })

  it('create() in a cluster with a hanging primary gives clients that lock elsewhere (V39)', async () => {
    const redisson = await createRedisson({ redis: { nodes: nodes() }, checkLockSyncedSlaves: false })
    for (const name of names) await redisson.getLock(name).withLock(() => {})
  })
})

describe('Redisson.create in a cluster of which a node is gone', () => {
  let setup: ClusterSetup

  before(async () => {
    setup = await startCluster({ config: ['cluster-require-full-coverage no'] })
    await setup.nodes[1]!.kill()
  })
  after(() => setup.stop())

  // ioredis asks a node at random whether the cluster is ready: one time in three it was the dead one, and connect() hung.
  it('create() in a cluster without one node succeeds, whichever node is asked first', async () => {
    const nodes = setup.nodes.map(({ host, port }) => ({ host, port }))
    for (let times = 0; times < 12; times++) {
      const took = await timed(() => createRedisson({ redis: { nodes } }))
      expect(took).to.be.below(QUICKLY)
    }
  })
})
