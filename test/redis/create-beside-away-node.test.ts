import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Redisson } from '../../src/redisson'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
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
    const error = await rejection(redisson.ping({ timeout: 300 }))
    const { host, port } = setup.nodes[1]!
    expect(error.message).to.contain(`the server ${host}:${port}: no answer within 300 ms`)
  })
})

describe('Redisson.create in a cluster of which a node is gone', () => {
  let setup: ClusterSetup
  let earlier: Redisson

  before(async () => {
    setup = await startCluster({ config: ['cluster-require-full-coverage no'] })
    earlier = await Redisson.create({ redis: { nodes: nodes() } })
    await earlier.ping()
    await setup.nodes[1]!.kill()
  })
  after(async () => {
    await earlier.shutdown()
    await setup.stop()
  })

  const nodes = () => setup.nodes.map(({ host, port }) => ({ host, port }))

  // ioredis asks a node at random whether the cluster is ready: one time in three it was the dead one, and connect() hung.
  it('create() in a cluster without one node succeeds, whichever node is asked first', async () => {
    for (let times = 0; times < 12; times++) {
      const took = await timed(() => createRedisson({ redis: { nodes: nodes() } }))
      expect(took).to.be.below(QUICKLY)
    }
  })

  // ioredis drops a node when its connection closes.
  it('ping() rejects while a primary is gone, and succeeds once it is back (V205)', async () => {
    const gone = setup.nodes[1]!
    await gone.kill()
    for (const redisson of [earlier, await createRedisson({ redis: { nodes: nodes() } })])
      for (let times = 0; times < 3; times++)
        expect((await rejection(redisson.ping())).message).to.contain(
          `the server ${gone.host}:${gone.port}: `,
        )
    await gone.restart()
    await earlier.ping()
  })
})
