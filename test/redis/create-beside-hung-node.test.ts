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
