import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { LockHold, Permit, Redisson, RedissonOptions } from '../../../src/index'
import { suffixed } from '../../../src/scripts/key-names'
import { createRedisson, timed, uniqueName } from '../../kit/clients'
import { eventsOf, stillPending } from '../../kit/observing'
import { isRenewed, NO_PROXIES, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
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
import { asleep } from '../../kit/sleepers'
import { contending, KINDS } from './kinds'

// Detection, election and reconnecting, on a busy machine.
const FAILED_OVER = 20_000
/** Much sooner than a waiter of a semaphore looks again without a message. */
const WOKEN_WITHIN = 8_000
const PATIENT = { unavailableAfter: 30_000 }

/** All that must hold for a hold whose primary was killed right after it was granted. */
async function outlives(hold: LockHold, waiting: Promise<LockHold>, lost: readonly unknown[], now: Address) {
  const { lockName } = hold
  const knows = await withClient(now, async (client) => {
    if ((await client.type(lockName)) === 'string') return true
    const fields = await client.hkeys(lockName)
    return fields.some((field) => field.includes(`:${hold.threadId}`))
  })
  expect(knows, `the new primary knows the hold of ${lockName}`).to.equal(true)
  // Renewed at every third of it, so twice within one lease.
  for (let times = 0; times < 2; times++) await isRenewed(now, lockName)
  expect(await stillPending(waiting), 'the contender is kept out').to.equal(true)
  expect(hold.isHeld).to.equal(true)
  await hold.unlock()
  await (await waiting).unlock()
  expect(lost).to.deep.equal([])
  expect(await withClient(now, (client) => client.exists(lockName))).to.equal(0)
}

/** What one client has of a semaphore, of one whose permits expire, and of a latch, and what another wants of them. */
class Synchronizers {
  private permit!: Permit
  private waiting: Promise<unknown>[] = []

  constructor(
    private readonly holder: Redisson,
    private readonly other: Redisson,
    /** A latch takes no braces. */
    private readonly names: { readonly semaphore: string; readonly permit: string; readonly latch: string },
  ) {}

  /** Takes the only permit of each. */
  async take(): Promise<void> {
    const { holder, names } = this
    await Promise.all([
      holder.getSemaphore(names.semaphore).trySetPermits(1),
      holder.getPermitExpirableSemaphore(names.permit).trySetPermits(1),
      holder.getCountDownLatch(names.latch).trySetCount(1),
    ])
    await holder.getSemaphore(names.semaphore).acquire()
    this.permit = await holder.getPermitExpirableSemaphore(names.permit).acquirePermit()
  }

  contend(): void {
    const { other, names } = this
    this.waiting = [
      other.getSemaphore(names.semaphore).acquire(),
      other.getPermitExpirableSemaphore(names.permit).acquirePermit(),
      other.getCountDownLatch(names.latch).await(),
    ]
    for (const each of this.waiting) each.catch(() => {})
  }

  /** All that must hold once their primary has a successor. */
  async outlive(now: Address): Promise<void> {
    const { holder, other, names, permit, waiting } = this
    const out = suffixed(names.permit, 'timeout')
    const leaseEnd = () =>
      withClient(now, async (client) => Number((await client.zrange(out, '0', '0', 'WITHSCORES'))[1]))
    const before = await leaseEnd()
    await waitUntil('the permit is renewed', async () => (await leaseEnd()) > before, FAILED_OVER)
    for (const each of waiting) expect(await stillPending(each)).to.equal(true)
    expect(permit.isHeld).to.equal(true)
    // Otherwise it may try again every second by itself.
    for (const [kind, name] of Object.entries(names)) await asleep(other, `${kind} ${name}`)
    await permit.release()
    await holder.getSemaphore(names.semaphore).release()
    await holder.getCountDownLatch(names.latch).countDown()
    expect(await timed(() => Promise.all(waiting)), 'notified').to.be.below(WOKEN_WITHIN)
    expect(
      await withClient(now, (client) => client.mget([names.semaphore, names.permit, names.latch])),
    ).to.deep.equal(['0', '0', null])
    expect(await withClient(now, (client) => client.zcard(out))).to.equal(1)
  }
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

/** Kills the primary of every kind's hold right after they were granted; `failedOver` resolves with the new primary. */
async function everyHoldOutlives(
  redis: RedissonOptions['redis'],
  newName: (prefix?: string) => string,
  primary: RedisNode,
  failedOver: () => Promise<Address>,
): Promise<void> {
  const holder = await createRedisson({ redis, lockWatchdogTimeout: 9_600 }, PATIENT)
  const other = await createRedisson({ redis }, PATIENT)
  const lost: unknown[] = eventsOf(holder, 'lockLost')
  holder.on('permitLost', (event) => lost.push(event))
  const kinds = Object.keys(KINDS)
  const names = new Map(kinds.map((kind, index) => [kind, newName(`${index}`)]))
  const synchronizers = new Synchronizers(holder, other, {
    semaphore: newName('semaphore'),
    permit: newName('permits'),
    latch: newName('latch'),
  })
  const holds = await Promise.all(kinds.map((kind) => KINDS[kind]!(holder, names.get(kind)!).acquire()))
  await synchronizers.take()
  await primary.kill()
  synchronizers.contend()
  const waiting = kinds.map((kind) => contending[kind]!(other, names.get(kind)!).acquire())
  const now = await failedOver()
  await Promise.all([
    synchronizers.outlive(now),
    ...holds.map((hold, index) => outlives(hold, waiting[index]!, lost, now)),
  ])
}

describe('behind sentinels, a primary killed', () => {
  let setup: SentinelSetup
  let proxies: TcpProxy[] = []

  beforeEach(async () => {
    setup = await freshSentinel()
  })

  it('A failover after an acknowledged acquisition keeps every lock, permit and latch (D4)', async () => {
    const old = await setup.primary()
    const node = setup.nodes.find(({ port }) => port === old.port)!
    await everyHoldOutlives(through(setup), uniqueName, node, async () => {
      await setup.waitForNewPrimary(old)
      return await setup.primary()
    })
  })

  it('A failover before an acknowledgement grants an acquisition once, or not at all (D4)', async function () {
    await skipInContainers(this, NO_PROXIES)
    const options = { redis: through(setup), slavesSyncTimeout: 2_000 }
    const redisson = await createRedisson(options, PATIENT)
    const { primary, replicas } = await roles(setup)
    proxies = await replicateThroughProxies(setup, primary, replicas)
    // Teaches the servers nothing new: only what comes now fails to reach the replicas.
    await redisson.getLock(uniqueName()).withLock(() => {})
    const semaphore = redisson.getSemaphore(uniqueName('semaphore'))
    const permits = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await Promise.all([semaphore.trySetPermits(5), permits.trySetPermits(5)])
    const counts = (node: Address) =>
      withClient(node, (client) => client.mget(semaphore.getName(), permits.getName()))
    for (const replica of replicas)
      await waitUntil('it has the permits', async () => (await counts(replica)).join() === '5,5')
    for (const proxy of proxies) proxy.stall()
    const name = uniqueName()
    const acquiring = redisson.getLock(name).acquire()
    const takingPermits = Promise.all([semaphore.acquire(2), permits.acquirePermit()])
    takingPermits.catch(() => {})
    await waitUntil('the primary has it', () =>
      withClient(primary, async (client) => (await client.exists(name)) === 1),
    )
    await waitUntil('the primary has given the permits', async () => (await counts(primary)).join() === '3,4')
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
    const [, permit] = await takingPermits
    expect(await counts(now)).to.deep.equal(['3', '4'])
    expect(permit.isHeld).to.equal(true)
    await Promise.all([semaphore.release(2), permit.release()])
    expect(await counts(now)).to.deep.equal(['5', '5'])
  })
})

describe('In a cluster with replicas, a primary', () => {
  let cluster: ClusterSetup

  beforeEach(async () => {
    cluster = await freshCluster({ replicas: 1 })
  })

  const nodes = () => ({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })) })

  it('A node killed after an acknowledged acquisition loses no lock, permit or latch (D4)', async () => {
    const tag = uniqueName()
    const owner = () => cluster.ownerOf(calculateSlot(tag))
    const old = await owner()
    await everyHoldOutlives(
      nodes(),
      // A latch has no braces in its name.
      (kind) => (kind === 'latch' ? tag : `{${tag}}${kind}`),
      old,
      async () => {
        await waitUntil('a replica has taken over', async () => (await owner()) !== old, FAILED_OVER)
        return await owner()
      },
    )
  })

  // It refuses WAIT then, and the script before it says where the slot is now.
  it('A cluster primary that became a replica costs an acquisition nothing', async () => {
    const redisson = await createRedisson({ redis: nodes() })
    const names = Array.from({ length: 12 }, () => uniqueName())
    for (const name of names) await redisson.getLock(name).withLock(() => {})
    for (const shard of [0, 1, 2]) {
      await cluster.failover(shard)
      for (const name of names) await redisson.getLock(name).withLock(() => {})
    }
  })
})
