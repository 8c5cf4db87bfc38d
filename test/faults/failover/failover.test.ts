import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { RLock } from '../../../src/api/rlock'
import type { LockHold, Redisson } from '../../../src/index'
import { closeAll, createRedisson, uniqueName } from '../../kit/clients'
import { stillPending } from '../../kit/observing'
import { isRenewed, NO_PROXIES, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
  type ClusterSetup,
  type SentinelSetup,
  skipInContainers,
  startCluster,
  startSentinel,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../kit/servers/index'

// Detection, election and reconnecting, on a busy machine.
const FAILED_OVER = 20_000
const PATIENT = { unavailableAfter: 30_000 }

const KINDS: Record<string, (redisson: Redisson, name: string) => RLock> = {
  'a lock': (redisson, name) => redisson.getLock(name),
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}
/** What a contender of each kind asks for: a reader would be let in beside a reader. */
const contending: typeof KINDS = {
  ...KINDS,
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}

/** All that must hold for a hold whose primary was killed right after it was granted. */
async function outlives(hold: LockHold, waiting: Promise<LockHold>, lost: readonly unknown[], now: Address) {
  const { lockName } = hold
  const fields = await withClient(now, (client) => client.hgetall(lockName))
  expect(
    Object.keys(fields).some((field) => field.includes(`:${hold.threadId}`)),
    'the new primary knows the hold',
  ).to.equal(true)
  // Renewed at every third of it, so twice within one lease.
  for (let times = 0; times < 2; times++) await isRenewed(now, lockName)
  expect(await stillPending(waiting), 'the contender is kept out').to.equal(true)
  expect(hold.isHeld).to.equal(true)
  await hold.unlock()
  await (await waiting).unlock()
  expect(lost).to.deep.equal([])
  expect(await withClient(now, (client) => client.exists(lockName))).to.equal(0)
}

/** What each node that lives takes itself for, and has of this key: for messages. */
async function whoKnows({ nodes }: SentinelSetup, key: string): Promise<string> {
  const views = nodes.map((node) =>
    withClient(node, async (client) => {
      const [role, fields] = [await client.role(), await client.hgetall(key)]
      return `${node.port}: ${JSON.stringify(role)} ${JSON.stringify(fields)}`
    }).catch(() => `${node.port}: does not answer`),
  )
  return (await Promise.all(views)).join('; ')
}

describe('behind sentinels, a primary killed', () => {
  let setup: SentinelSetup
  let proxies: TcpProxy[] = []

  beforeEach(async () => {
    setup = await startSentinel()
  })
  afterEach(async () => {
    await closeAll()
    for (const proxy of proxies.splice(0)) await proxy.stop()
    await setup.stop()
  })

  it('A failover right after a replica-acknowledged acquisition keeps locks, read locks and write locks (D4)', async () => {
    const lockWatchdogTimeout = 9_600
    const holder = await createRedisson({ redis: through(setup), lockWatchdogTimeout }, PATIENT)
    const other = await createRedisson({ redis: through(setup) }, PATIENT)
    const lost: unknown[] = []
    holder.on('lockLost', (event) => lost.push(event))
    const kinds = Object.keys(KINDS)
    const names = new Map(kinds.map((kind) => [kind, uniqueName()]))
    const old = await setup.primary()
    const node = setup.nodes.find(({ port }) => port === old.port)!
    const holds = await Promise.all(kinds.map((kind) => KINDS[kind]!(holder, names.get(kind)!).acquire()))
    await node.kill()
    const waiting = kinds.map((kind) => contending[kind]!(other, names.get(kind)!).acquire())
    await setup.waitForNewPrimary(old)
    const now = await setup.primary()
    await Promise.all(holds.map((hold, index) => outlives(hold, waiting[index]!, lost, now)))
  })

  it('A failover before any replica acknowledged leaves an acquisition granted once by the new primary, or not at all (D4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const options = { redis: through(setup), slavesSyncTimeout: 2_000 }
    const redisson = await createRedisson(options, PATIENT)
    const { primary, replicas } = await roles(setup)
    proxies = await replicateThroughProxies(setup, primary, replicas)
    // Teaches the servers nothing new: only what comes now fails to reach the replicas.
    await redisson.getLock(uniqueName()).withLock(() => {})
    for (const proxy of proxies) proxy.stall()
    const name = uniqueName()
    const acquiring = redisson.getLock(name).acquire()
    await waitUntil('the primary has it', () =>
      withClient(primary, async (client) => (await client.exists(name)) === 1),
    )
    expect(await stillPending(acquiring)).to.equal(true)
    await primary.kill()
    await setup.waitForNewPrimary(primary)
    const now = await setup.primary()
    const hold = await acquiring
    const fields = await withClient(now, (client) => client.hgetall(name))
    expect(fields, await whoKnows(setup, name)).to.deep.equal({
      [`${redisson.getId()}:${hold.threadId}`]: '1',
    })
    await hold.unlock()
    expect(await withClient(now, (client) => client.exists(name))).to.equal(0)
  })
})

describe('In a cluster with replicas, a primary', () => {
  let cluster: ClusterSetup

  beforeEach(async () => {
    cluster = await startCluster({ replicas: 1 })
  })
  afterEach(async () => {
    await closeAll()
    await cluster.stop()
  })

  const nodes = () => ({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })) })

  it('A cluster node killed right after a replica-acknowledged acquisition loses no lock, read lock or write lock (D4)', async () => {
    const lockWatchdogTimeout = 9_600
    const holder = await createRedisson({ redis: nodes(), lockWatchdogTimeout }, PATIENT)
    const other = await createRedisson({ redis: nodes() }, PATIENT)
    const lost: unknown[] = []
    holder.on('lockLost', (event) => lost.push(event))
    const kinds = Object.keys(KINDS)
    const tag = uniqueName()
    const names = new Map(kinds.map((kind, index) => [kind, `{${tag}}${index}`]))
    const old = await cluster.ownerOf(calculateSlot(tag))
    const holds = await Promise.all(kinds.map((kind) => KINDS[kind]!(holder, names.get(kind)!).acquire()))
    await old.kill()
    const waiting = kinds.map((kind) => contending[kind]!(other, names.get(kind)!).acquire())
    await waitUntil(
      'a replica has taken over',
      async () => (await cluster.ownerOf(calculateSlot(tag))) !== old,
      FAILED_OVER,
    )
    const now = await cluster.ownerOf(calculateSlot(tag))
    await Promise.all(holds.map((hold, index) => outlives(hold, waiting[index]!, lost, now)))
  })

  // It refuses WAIT then, and the script before it says where the slot is now.
  it('A cluster primary that became a replica under an open connection costs an acquisition nothing', async () => {
    const redisson = await createRedisson({ redis: nodes() })
    const names = Array.from({ length: 12 }, () => uniqueName())
    for (const name of names) await redisson.getLock(name).withLock(() => {})
    for (const shard of [0, 1, 2]) {
      await cluster.failover(shard)
      for (const name of names) await redisson.getLock(name).withLock(() => {})
    }
  })
})
