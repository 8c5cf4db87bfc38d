import { performance } from 'node:perf_hooks'
import calculateSlot from 'cluster-key-slot'
import { insist, isRenewed, prefer, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
  type SentinelSetup,
  startCluster,
  startSentinel,
  waitUntil,
  withClient,
} from '../../kit/servers/index'
import { cutOffTogether, killed, NoFailover, type Outcome, SYNC, type World } from './world'

export interface Scenario {
  readonly title: string
  /** lockWatchdogTimeout, in ms. */
  readonly lease: number
  /** No other caller may get in beside the holder, or else the program fails; where not, this is a case that remains. */
  readonly safe: boolean
  round(world: World): Promise<Outcome>
}

const FAILED_OVER = 60_000
/** Longer than any failover takes here, so that what is lost is lost by replication. */
const LONG = 12_000
/** Where it is waited for that it ends. */
const SHORT = 6_000

async function sentinels(world: World): Promise<SentinelSetup> {
  const setup = await insist(startSentinel)
  world.later(() => setup.stop())
  return setup
}

/** What comes of it once the fault has happened: the hold goes on at the new primary, or another gets in. */
async function judge(world: World, at: number, newPrimary: () => Promise<Address>): Promise<Outcome> {
  world.contend()
  const now = await newPrimary()
  const fields = await withClient(now, (client) => client.hgetall(world.name))
  const kept = world.isHolder(fields)
  if (kept) await Promise.race([isRenewed(now, world.name), world.untilEntered()])
  if (kept && world.hold.isHeld && world.enteredAt === undefined) {
    await world.hold.unlock()
    await world.untilEntered()
    return { kept, acquired: world.acquired, entered: world.enteredAt! - at, together: undefined }
  }
  await world.untilEntered()
  await world.untilAborted()
  return { kept: false, acquired: world.acquired, entered: world.enteredAt! - at, together: world.together }
}

async function failedOver(setup: SentinelSetup, old: Address): Promise<Address> {
  try {
    await setup.waitForNewPrimary(old)
  } catch (error) {
    throw new NoFailover('the sentinels did not agree in time', { cause: error })
  }
  return await setup.primary()
}

/** A replica apart from the other by its way to the primary; then the primary is killed right after the acquisition. */
async function oneApart(world: World, apart: 'farther' | 'lagging', preferred: boolean): Promise<Outcome> {
  const setup = await sentinels(world)
  const { primary, replicas } = await roles(setup)
  const [proxy] = world.proxied(await replicateThroughProxies(setup, primary, [replicas[1]]))
  if (preferred) await prefer(setup, replicas[1])
  await world.connect(through(setup))
  if (apart === 'farther') proxy!.delay(25)
  else proxy!.stall()
  await world.acquire()
  const at = await killed(world, primary)
  return await judge(world, at, () => failedOver(setup, primary))
}

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'Sentinel: primary killed right after the acquisition',
    lease: LONG,
    safe: true,
    async round(world) {
      const setup = await sentinels(world)
      const { primary } = await roles(setup)
      await world.connect(through(setup))
      await world.acquire()
      const at = await killed(world, primary)
      return await judge(world, at, () => failedOver(setup, primary))
    },
  },
  {
    title: 'Cluster: primary killed right after the acquisition',
    lease: LONG,
    safe: true,
    async round(world) {
      const cluster = await insist(() => startCluster({ replicas: 1 }))
      world.later(() => cluster.stop())
      await world.connect({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })) })
      const slot = calculateSlot(world.name)
      const primary = await cluster.ownerOf(slot)
      await world.acquire()
      const at = await killed(world, primary)
      return await judge(world, at, async () => {
        await waitUntil('it fails over', async () => (await cluster.ownerOf(slot)) !== primary, FAILED_OVER)
        return await cluster.ownerOf(slot)
      })
    },
  },
  {
    title: 'Sentinel: the same, and the replica promoted is 25 ms farther',
    lease: LONG,
    safe: true,
    round: (world) => oneApart(world, 'farther', true),
  },
  {
    title: 'Sentinel: the same, one replica lags',
    lease: LONG,
    safe: true,
    round: (world) => oneApart(world, 'lagging', false),
  },
  {
    title: 'Sentinel: the same, one replica lags and is promoted (replica-priority)',
    lease: LONG,
    safe: false,
    round: (world) => oneApart(world, 'lagging', true),
  },
  {
    title: 'Sentinel: both replicas lag, the lock is renewed, primary killed',
    lease: SHORT,
    safe: true,
    async round(world) {
      const setup = await sentinels(world)
      // So late that what the replicas know of the lock runs out about then.
      for (const sentinel of setup.sentinels)
        await withClient(sentinel, (client) =>
          client.call('SENTINEL', 'SET', setup.name, 'down-after-milliseconds', 2_500),
        )
      const { primary, replicas } = await roles(setup)
      const proxies = world.proxied(await replicateThroughProxies(setup, primary, replicas))
      await world.connect(through(setup))
      await world.acquire()
      for (const proxy of proxies) proxy.stall()
      await isRenewed(primary, world.name)
      await new Promise((resolve) => setTimeout(resolve, 2 * SYNC))
      const at = await killed(world, primary)
      return await judge(world, at, () => failedOver(setup, primary))
    },
  },
  {
    title: 'Sentinel: released while both replicas lag, primary killed',
    lease: SHORT,
    safe: true,
    async round(world) {
      const setup = await sentinels(world)
      const { primary, replicas } = await roles(setup)
      const proxies = world.proxied(await replicateThroughProxies(setup, primary, replicas))
      await world.connect(through(setup))
      await world.acquire()
      for (const proxy of proxies) proxy.stall()
      await world.hold.unlock()
      const at = await killed(world, primary)
      await failedOver(setup, primary)
      world.contend()
      await world.untilEntered()
      const entered = performance.now() - at
      return { kept: undefined, acquired: world.acquired, entered, together: undefined }
    },
  },
  {
    title: 'Sentinel: primary and holder cut off together from everybody else',
    lease: SHORT,
    safe: false,
    round: (world) => cutOffTogether(world, []),
  },
  {
    title: 'Sentinel: the same with min-replicas-to-write 1, min-replicas-max-lag 1',
    lease: SHORT,
    safe: true,
    round: (world) => cutOffTogether(world, ['min-replicas-to-write 1', 'min-replicas-max-lag 1']),
  },
]
