import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { ShardedSubscriptionMode } from '../../src/index'
import { closeEach, enterEach, nameEach } from '../contract/closable'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { slotsOfShard } from '../kit/servers/cluster-slots'
import {
  type ClusterSetup,
  freshCluster,
  needs,
  type RedisNode,
  waitUntil,
  withClient,
} from '../kit/servers/index'
import { leaveCluster } from '../kit/servers/leave-cluster'

/** A client that waits looks at the map of slots every 5 s. */
const LOOKED = 12_000
const SOON = 5_000
const SHARDS = 3

describe('A cluster node that has left', () => {
  let setup: ClusterSetup

  beforeEach(async function () {
    await needs(this, 'sharded pub/sub')
    setup = await freshCluster({ replicas: 1 })
  })

  const open = (shardedSubscriptionMode: ShardedSubscriptionMode = 'AUTO', lockWatchdogTimeout = 60_000) =>
    createRedisson({
      redis: { nodes: setup.nodes.map(({ host, port }) => ({ host, port })) },
      shardedSubscriptionMode,
      lockWatchdogTimeout,
    })

  /** A name whose slot is on this shard. */
  function nameOn(shard: number): string {
    for (;;) {
      const name = uniqueName()
      if (slotsOfShard(shard, SHARDS).includes(calculateSlot(name))) return name
    }
  }

  for (const mode of ['AUTO', 'OFF'] as const)
    for (const how of ['was cut off', 'was reset'] as const)
      it(`A client leaves a primary that ${how}, with holds and waiters, mode ${mode}`, async () => {
        const client = await open(mode, 6_000)
        const lost = eventsOf(client, 'lockLost')
        const names = nameEach(() => nameOn(0))
        const opening = await closeEach(await open(mode), names)
        const entering = enterEach(client, names)
        const held = await client.getLock(nameOn(0)).acquire()
        const acquired = await (await open(mode)).getLock(nameOn(0)).acquire()
        await waitUntil('all are subscribed', async () => (await channels(mode)) >= 6)
        await leaveCluster(setup.nodes, setup.nodes[0]!, how === 'was reset')
        expect(
          await timed(async () => expect(await client.getLock(nameOn(0)).tryLock()).to.equal(true)),
        ).to.be.below(SOON)
        expect(await timed(() => acquired.unlock())).to.be.below(SOON)
        await opening()
        await entering.allInside(LOOKED)
        await held.unlock()
        expect(lost).to.deep.equal([])
      })

  it('A client that only waits looks for a new primary of its slots (guarantee 2)', async () => {
    const client = await open()
    // A caller of a fair lock refreshes its place, and would find the new primary by that.
    const names = new Map([...nameEach(() => nameOn(0))].filter(([kind]) => kind !== 'fair lock'))
    const opening = await closeEach(await open(), names)
    const entering = enterEach(client, names)
    await waitUntil('all are subscribed', async () => (await channels('AUTO')) >= 5)
    await leaveCluster(setup.nodes, setup.nodes[0]!, false)
    await opening()
    await entering.allInside(LOOKED)
  })

  it('A waiting client hears of all slots if its subscribed node leaves (guarantee 2)', async () => {
    const client = await open('OFF')
    // It waits for a moment, so that it has a connection for all subscriptions.
    expect(await client.getSemaphore(uniqueName()).tryAcquire(1, 100)).to.equal(false)
    const counts = await Promise.all(setup.nodes.map((node) => channelsOn(node, 'OFF')))
    const at = counts.findIndex((count) => count > 0)
    const names = nameEach(() => nameOn((at + 1) % SHARDS))
    const opening = await closeEach(await open('OFF'), names)
    const entering = enterEach(client, names)
    await waitUntil('all are subscribed', async () => (await channels('OFF')) >= 6)
    await leaveCluster(setup.nodes, setup.nodes[at]!, true)
    await opening()
    await entering.allInside(LOOKED)
  })

  async function channelsOn(node: RedisNode, mode: ShardedSubscriptionMode): Promise<number> {
    const command = mode === 'OFF' ? 'CHANNELS' : 'SHARDCHANNELS'
    return ((await withClient(node, (redis) => redis.call('PUBSUB', command))) as string[]).length
  }

  const channels = async (mode: ShardedSubscriptionMode): Promise<number> => {
    const counts = await Promise.all(setup.nodes.map((node) => channelsOn(node, mode)))
    return counts.reduce((sum, count) => sum + count, 0)
  }
})
