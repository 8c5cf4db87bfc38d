import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { closeAll, createRedisson, uniqueName } from '../../kit/clients'
import { through } from '../../kit/replication'
import {
  type ClusterSetup,
  type SentinelSetup,
  startCluster,
  startSentinel,
  waitUntil,
  withClient,
} from '../../kit/servers/index'

const PATIENT = { unavailableAfter: 30_000 }

describe('An acquisition in flight when its server fails', () => {
  let setup: ClusterSetup | SentinelSetup

  afterEach(async () => {
    await closeAll()
    await setup.stop()
  })

  for (const fate of ['dies', 'hangs'] as const) {
    it(`In a cluster no fence delays an acquisition when its server ${fate} (guarantee 4)`, async () => {
      const cluster = await startCluster({ replicas: 1 })
      setup = cluster
      const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
      const redisson = await createRedisson({ redis: { nodes }, checkLockSyncedSlaves: false }, PATIENT)
      const name = uniqueName()
      const elsewhere = Array.from({ length: 50 }, () => uniqueName())
      for (const each of [name, ...elsewhere]) await redisson.getLock(each).withLock(() => {})
      const owner = await cluster.ownerOf(calculateSlot(name))
      await owner.pause()
      const acquiring = redisson.getLock(name).acquire()
      if (fate === 'dies') await owner.kill()
      const shard = cluster.nodes.indexOf(owner)
      await waitUntil('the other nodes have a successor', async () => {
        const other = cluster.nodes[(shard + 1) % 3]!
        const view = (await withClient(other, (client) => client.call('CLUSTER', 'NODES'))) as string
        return new RegExp(`:${cluster.nodes[3 + shard]!.port}@\\S+ master`).test(view)
      })
      const hold = await acquiring
      const successor = cluster.nodes[3 + shard]!
      expect(await withClient(successor, (client) => client.hlen(name))).to.equal(1)
      await hold.unlock()
      await owner.resume()
    })

    it(`Behind sentinels no fence delays an acquisition when its server ${fate}`, async () => {
      const sentinels = await startSentinel()
      setup = sentinels
      const redisson = await createRedisson({ redis: through(sentinels) }, PATIENT)
      const name = uniqueName()
      await redisson.getLock(name).withLock(() => {})
      const old = await sentinels.primary()
      const node = sentinels.nodes.find(({ port }) => port === old.port)!
      await node.pause()
      const acquiring = redisson.getLock(name).acquire()
      if (fate === 'dies') await node.kill()
      await sentinels.waitForNewPrimary(old)
      const hold = await acquiring
      expect(await withClient(await sentinels.primary(), (client) => client.hlen(name))).to.equal(1)
      await hold.unlock()
      await node.resume()
    })
  }
})
