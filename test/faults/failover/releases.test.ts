import { expect } from 'chai'
import type { Redisson } from '../../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../../kit/clients'
import { internalsOf } from '../../kit/internals'
import {
  NO_PROXIES,
  replicateInCluster,
  replicateThroughProxies,
  roles,
  through,
} from '../../kit/replication'
import {
  type ClusterSetup,
  freshCluster,
  freshSentinel,
  type RedisNode,
  type SentinelSetup,
  skipInContainers,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../kit/servers/index'
import { contending, KINDS } from './kinds'

const PATIENT = { unavailableAfter: 30_000 }
/** Of the released locks. A new primary that has them still would keep them for as long. */
const LEASE = 60_000
/** Detection, election and reconnecting, on a busy machine. */
const FAILED_OVER = 20_000

/** Acquires locks of all kinds; calls `cutOff`, after which no replica learns of anything; and releases the locks. */
async function releaseUnseen(releasing: Redisson, other: Redisson, tag: string, cutOff: () => void) {
  const holds = await Promise.all(
    Object.entries(KINDS).map(([kind, of]) => of(releasing, `${kind}${tag}`).acquire({ leaseTime: LEASE })),
  )
  // Passed on within its client.
  const lock = releasing.getLock(`handed off${tag}`)
  const giver = await lock.acquire({ leaseTime: LEASE })
  const taking = lock.acquire({ leaseTime: LEASE })
  await waitUntil('the second caller waits', async () => releasing.stats().waiting === 1)
  cutOff()
  await Promise.all(holds.map((hold) => hold.unlock()))
  await giver.unlock()
  taking.then((taker) => taker.unlock()).catch(() => {})
  return async () => {
    const names = [...Object.keys(KINDS), 'handed off']
    await Promise.all(
      names.map(async (kind) => {
        const hold = await (contending[kind] ?? KINDS['a lock']!)(other, `${kind}${tag}`).acquire()
        await hold.unlock()
      }),
    )
  }
}

describe('Releases that no replica has, behind sentinels', () => {
  let setup: SentinelSetup
  let proxies: TcpProxy[] = []

  const started = async (replicas: number) => {
    setup = await freshSentinel({ replicas })
    return await roles(setup)
  }

  it('A lock released before its primary was killed is free on the new one (guarantee 4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const { primary, replicas } = await started(2)
    proxies = await replicateThroughProxies(setup, primary, replicas)
    const releasing = await createRedisson({ redis: through(setup), slavesSyncTimeout: 300 }, PATIENT)
    const other = await createRedisson({ redis: through(setup) }, PATIENT)
    const free = await releaseUnseen(releasing, other, uniqueName(), () => {
      for (const proxy of proxies) proxy.stall()
    })
    await primary.kill()
    expect(await timed(free)).to.be.below(FAILED_OVER)
  })

  it('A release is kept although a sentinel named a replica for a while (V210)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const { primary, replicas } = await started(2)
    const [stale, successor] = replicas
    proxies = await replicateThroughProxies(setup, primary, replicas)
    const [sentinel] = setup.sentinels as [RedisNode]
    const ask = (at: RedisNode, ...words: string[]) =>
      withClient(at, (client) => client.call('SENTINEL', ...words))
    // They would make a replica again of a server that this test promotes.
    for (const each of setup.sentinels) await ask(each, 'REMOVE', setup.name)
    const monitor = ({ host, port }: RedisNode) =>
      ask(sentinel, 'MONITOR', setup.name, host, String(port), '2')
    const nameInstead = async (node: RedisNode) => {
      await ask(sentinel, 'REMOVE', setup.name)
      await monitor(node)
      await withClient(primary, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal'))
    }
    await monitor(primary)
    const { host, port } = sentinel
    const redis = { sentinels: [{ host, port }], name: setup.name }
    const releasing = await createRedisson({ redis, slavesSyncTimeout: 300 }, PATIENT)
    const lock = releasing.getLock(uniqueName())
    const isHeldBy = (node: RedisNode) => withClient(node, (client) => client.exists(lock.getName()))
    const hold = await lock.acquire({ leaseTime: LEASE })
    for (const proxy of proxies) proxy.stall()
    await hold.unlock()
    await withClient(stale, async (client) => {
      const opened = async () =>
        Number(/^total_connections_received:(\d+)/m.exec(await client.info('stats'))![1])
      const before = await opened()
      await nameInstead(stale)
      await waitUntil('the replica has refused the client', async () => (await opened()) > before + 8)
    })
    const scriptsRun = () =>
      withClient(primary, async (client) =>
        Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(await client.info('commandstats'))![1]),
      )
    const ran = await scriptsRun()
    await nameInstead(primary)
    expect(await lock.isLocked()).to.equal(false)
    await waitUntil('the release came to the old primary again', async () => (await scriptsRun()) > ran + 1)
    await withClient(successor, (client) => client.replicaof('NO', 'ONE'))
    expect(await isHeldBy(successor), 'the release has not reached it').to.equal(1)
    await nameInstead(successor)
    await waitUntil(
      'the new primary has the release',
      async () => (await isHeldBy(successor)) === 0,
      FAILED_OVER,
    )
  })

  it('Releases are kept until the replicas have them, or none is left (guarantee 7)', async () => {
    const { replicas } = await started(2)
    const redisson = await createRedisson({ redis: through(setup) }, PATIENT)
    const recentReleases = internalsOf(redisson).recentReleases!
    for (let turn = 0; turn < 50; turn++) await redisson.getLock(uniqueName()).withLock(() => {})
    // biome-ignore lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
    const kept = () => [...recentReleases['servers'].values()].flat().length
    expect(kept(), 'a later acquisition tells of the releases before it').to.be.within(0, 5)
    await redisson.getLock(uniqueName()).withLock(() => {})
    await waitUntil('no release is kept by an idle client', async () => kept() === 0)
    for (const replica of replicas) await replica.kill()
    await redisson.getLock(uniqueName()).withLock(() => {})
    await waitUntil('no release is kept for want of replicas', async () => kept() === 0, FAILED_OVER)
  })

  it('A primary without its replica grants nothing for some seconds, then alone', async () => {
    const { replicas } = await started(1)
    const redisson = await createRedisson({ redis: through(setup), slavesSyncTimeout: 300 }, PATIENT)
    await redisson.getLock(uniqueName()).withLock(() => {})
    // As in a failover of which the primary knows nothing yet.
    await withClient(replicas[0], (client) => client.replicaof('NO', 'ONE'))
    const refused = await rejection(redisson.getLock(uniqueName()).tryLock())
    expect(refused.code).to.be.oneOf(['REDIS_UNAVAILABLE', 'LOCK_NOT_REPLICATED'])
    expect(await timed(() => redisson.getLock(uniqueName()).withLock(() => {}))).to.be.within(1_000, 15_000)
  })

  it('A permit released before its primary was killed is free on the new one', async function () {
    await skipInContainers(this, NO_PROXIES)
    const { primary, replicas } = await started(1)
    proxies = await replicateThroughProxies(setup, primary, [replicas[0]])
    const redisson = await createRedisson({ redis: through(setup), slavesSyncTimeout: 300 }, PATIENT)
    const [semaphore, permits] = [
      redisson.getSemaphore(uniqueName()),
      redisson.getPermitExpirableSemaphore(uniqueName()),
    ]
    await Promise.all([semaphore.trySetPermits(1), permits.trySetPermits(1)])
    await semaphore.acquire()
    const id = await permits.acquire()
    proxies[0]!.stall()
    await Promise.all([semaphore.release(), permits.release(id)])
    await primary.kill()
    await setup.waitForNewPrimary(primary)
    await waitUntil(
      'both permits are free',
      async () => (await semaphore.availablePermits()) === 1 && (await permits.availablePermits()) === 1,
      FAILED_OVER,
    )
  })
})

describe('Releases that no replica has, in a cluster', () => {
  let cluster: ClusterSetup

  beforeEach(async () => {
    cluster = await freshCluster({ replicas: 1 })
  })

  it('A lock that was released by a client that is idle is free after a takeover (guarantee 4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const [primary] = cluster.nodes as readonly [RedisNode]
    const replica = cluster.nodes[3]!
    const through = await replicateInCluster(primary, replica)
    const redis = {
      nodes: cluster.nodes.map(({ host, port }) => ({ host, port })),
      options: { natMap: through.natMap },
    }
    const releasing = await createRedisson({ redis, slavesSyncTimeout: 300 }, PATIENT)
    const other = await createRedisson({ redis }, PATIENT)
    // Slot 5061, of the first shard.
    const free = await releaseUnseen(releasing, other, `${uniqueName()}{bar}`, () => through.proxy.stall())
    await withClient(replica, (client) => client.call('CLUSTER', 'FAILOVER', 'TAKEOVER'))
    expect(await timed(free)).to.be.below(FAILED_OVER)
  })
})
