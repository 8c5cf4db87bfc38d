import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Redis } from 'ioredis'
import type { ShardedSubscriptionMode } from '../src/index'
import { timed, uniqueName } from '../test/kit/clients'
import { describeWithJava, type JavaPeer, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { type ClusterSetup, sharedCluster, waitUntil, withClient } from '../test/kit/servers/index'
import { BOTH_WAYS, READ, type Sides, WRITE } from './support/lock-peer'
import { NodePeer } from './support/node-peer'
import { channelOf, readWriteChannelOf, warmUp, warmUpReadWrite } from './support/world'

const { oldest, last3, newest } = REDISSON_VERSIONS
const WOKEN_WITHIN_MS = 600

type Channels = 'sharded' | 'plain'

// Who hears whom. 3.27.2 is not here: it chooses by a probe whose answer depends on the node it asks, so no
// setting of ours is sure to hear it (docs/reference/java-parity.md).
describeWithJava('Java and Node in a cluster', () => {
  clusterTests(newest, 'AUTO', 'AUTO', 'sharded')
  clusterTests(newest, 'OFF', 'OFF', 'plain')
  clusterTests(last3, 'AUTO', 'AUTO', 'sharded')
  clusterTests(oldest, undefined, 'OFF', 'plain')
  deafTests()
}, [oldest, last3, newest])

function clusterTests(
  version: string,
  javaMode: ShardedSubscriptionMode | undefined,
  nodeMode: ShardedSubscriptionMode,
  channels: Channels,
): void {
  describe(`Redisson ${version}${javaMode ? ` with ${javaMode}` : ''} beside ours with ${nodeMode}`, () => {
    const sides = inCluster(version, javaMode, nodeMode)

    for (const [holder, waiter] of BOTH_WAYS) {
      it(`${waiter} is woken by ${holder}'s unlock() over a ${channels} channel, on every shard`, async () => {
        for (const name of onEveryShard()) {
          const [holding, waiting] = [sides[holder].thread('a'), sides[waiter].thread('b')]
          await holding.lock(name)
          const acquired = waiting.lock(name)
          expect(await listenersOf(sides.cluster, channelOf(name))).to.equal(channels)
          expect(await timed(() => Promise.all([holding.unlock(name), acquired]))).to.be.below(
            WOKEN_WITHIN_MS,
          )
          await waiting.unlock(name)
        }
      })
    }

    // Every version treats the channels of both kinds of locks alike; one tells.
    if (version === newest) readWriteTests(sides, channels)

    it('Java and Node exclude each other under a hash tag, too', async () => {
      const name = `{${uniqueName()}}:order`
      await sides.Java.thread('a').lock(name)
      expect(await sides.Node.thread('b').tryLock(name)).to.equal(false)
      await sides.Java.thread('a').unlock(name)
      expect(await sides.Node.thread('b').tryLock(name)).to.equal(true)
      expect(await sides.Java.thread('a').tryLock(name)).to.equal(false)
      await sides.Node.thread('b').unlock(name)
    })
  })
}

function readWriteTests(sides: Sides & { cluster: ClusterSetup }, channels: Channels): void {
  for (const [holder, waiter] of BOTH_WAYS) {
    it(`${waiter} is woken by ${holder}'s readers and writers over a ${channels} channel`, async () => {
      for (const name of onEveryShard()) {
        const [holding, waiting] = [sides[holder].thread('a'), sides[waiter].thread('b')]
        for (const [held, wanted] of [
          [WRITE, READ],
          [WRITE, WRITE],
          [READ, WRITE],
        ] as const) {
          await holding.lock(name, held)
          const acquired = waiting.lock(name, wanted)
          expect(await listenersOf(sides.cluster, readWriteChannelOf(name))).to.equal(channels)
          const woken = () => Promise.all([holding.unlock(name, held), acquired])
          expect(await timed(woken)).to.be.below(WOKEN_WITHIN_MS)
          await waiting.unlock(name, wanted)
        }
      }
    })
  }
}

/** The price of a mode that does not fit: still never two holders, but no waiter is woken before the lease ends. */
function deafTests(): void {
  describe(`Redisson ${oldest}, which knows only PUBLISH, beside ours with AUTO`, () => {
    const sides = inCluster(oldest, undefined, 'AUTO')

    for (const [holder, waiter] of BOTH_WAYS) {
      it(`${waiter} does not hear ${holder}'s unlock() and enters when the lease ends`, async () => {
        const [holding, waiting] = [sides[holder].thread('a'), sides[waiter].thread('b')]
        const name = uniqueName()
        await holding.lock(name, { leaseTime: 1_200 })
        const acquired = timed(() => waiting.lock(name))
        await listenersOf(sides.cluster, channelOf(name))
        await holding.unlock(name)
        expect(await acquired).to.be.within(1_000, 1_200 + WOKEN_WITHIN_MS)
        await waiting.unlock(name)
      })
    }
  })
}

function inCluster(
  version: string,
  javaMode: ShardedSubscriptionMode | undefined,
  nodeMode: ShardedSubscriptionMode,
): Sides & { cluster: ClusterSetup } {
  const sides = {} as { Java: JavaPeer; Node: NodePeer; cluster: ClusterSetup }
  before(async function () {
    sides.cluster = await sharedCluster()
    // Before 7.0 there is nothing but PUBLISH, and AUTO means just that.
    if (nodeMode === 'AUTO' && !(await isSharded(sides.cluster))) return this.skip()
    const nodes = sides.cluster.nodes.map(({ host, port }) => ({ host, port }))
    const addresses = nodes.map(({ host, port }) => `${host}:${port}`)
    ;[sides.Java, sides.Node] = await Promise.all([
      startJavaPeer({
        version,
        redis: { mode: 'cluster', addresses },
        settings: { shardedSubscriptionMode: javaMode },
      }),
      NodePeer.start({ redis: { nodes }, shardedSubscriptionMode: nodeMode }),
    ])
    if (javaMode !== undefined) expect(sides.Java.unsupported).to.deep.equal([])
    if (version !== oldest || nodeMode === 'OFF') await warmUp(sides)
    if (version === newest) await warmUpReadWrite(sides)
  })
  after(async () => {
    await Promise.all([sides.Java?.kill(), sides.Node?.shutdown()])
  })
  return sides
}

function isSharded({ nodes }: ClusterSetup): Promise<boolean> {
  return withClient(nodes[0]!, (client) =>
    client.pubsub('SHARDNUMSUB').then(
      () => true,
      () => false,
    ),
  )
}

/** Three names, each in another third of the slots. */
function onEveryShard(): string[] {
  const names = new Map<number, string>()
  while (names.size < 3) {
    const name = uniqueName()
    names.set(Math.floor((calculateSlot(name) * 3) / 16384), name)
  }
  return [...names.values()]
}

/** Waits for a subscriber to the channel, and says of which kind. */
async function listenersOf(cluster: ClusterSetup, channel: string): Promise<Channels> {
  const nodes = cluster.nodes.map(({ host, port }) => new Redis(port, host))
  let found: Channels | undefined
  try {
    await waitUntil(`somebody listens to ${channel}`, async () => {
      for (const node of nodes) {
        const [, sharded] = (await node.pubsub('SHARDNUMSUB', channel).catch(() => [])) as [string, number]
        const [, plain] = (await node.pubsub('NUMSUB', channel)) as [string, number]
        if (Number(sharded) > 0) found = 'sharded'
        if (Number(plain) > 0) found = 'plain'
      }
      return found !== undefined
    })
  } finally {
    for (const node of nodes) node.disconnect()
  }
  // The waiter looks once more under its subscription before it sleeps.
  await new Promise((resolve) => setTimeout(resolve, 60))
  return found!
}
