import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson, RedissonOptions } from '../../../src/index'
import { createRedisson, timed, uniqueName } from '../../kit/clients'
import { roles, through } from '../../kit/replication'
import {
  type Address,
  type ClusterSetup,
  freshCluster,
  freshSentinel,
  type RedisNode,
  type SentinelSetup,
  sameAddress,
  waitUntil,
  withClient,
} from '../../kit/servers/index'

const SYNC = 400
/** Less than one wait for replicas takes, and much more than a lock needs. */
const WITHOUT_WAITING = SYNC - 50
/** With their values more than the primary's backlog holds, so that no replica gets away with the rest alone. */
const KEYS = 20_000

type Settings = Record<string, string | number>

/** A stage of the first copy, and how to make it last. */
interface Stage {
  /** What the primary says of the replica for as long as it lasts. */
  readonly seen: RegExp
  readonly primary: Settings
  readonly replica?: Settings
  /** The replica stops reading. */
  readonly pauses?: boolean
}

const DEFAULTS = { 'repl-diskless-sync-delay': 0, 'rdb-key-save-delay': 0, 'repl-diskless-sync': 'yes' }
/** So long does the primary need to write the data down for the replica. */
const SAVE_SLOWLY = { 'rdb-key-save-delay': 100, rdbcompression: 'no' }

const STAGES: Record<string, Stage> = {
  'waits for others to join (wait_bgsave)': {
    seen: /state=wait_bgsave/,
    primary: { 'repl-diskless-sync-delay': 60 },
  },
  'is being sent the data as it is read (wait_bgsave)': {
    seen: /state=wait_bgsave/,
    primary: { ...SAVE_SLOWLY, 'rdb-key-save-delay': 2_000 },
  },
  'is being sent the data from a file (send_bulk)': {
    seen: /state=send_bulk/,
    primary: { ...SAVE_SLOWLY, 'repl-diskless-sync': 'no' },
    pauses: true,
  },
  'loads the data (online, without an acknowledgement so far)': {
    seen: /state=online,offset=0,/,
    primary: { ...SAVE_SLOWLY, 'repl-diskless-sync': 'no' },
    replica: { 'key-load-delay': 2_000 },
  },
}

async function fill(client: Redis, tag = ''): Promise<void> {
  const script = "for i = 1, ARGV[1] do redis.call('set', KEYS[1] .. i, string.rep('v', 1000)) end"
  await client.eval(script, 1, `fill${tag}:`, KEYS)
}

async function configure(node: Address, settings: Settings): Promise<void> {
  await withClient(node, async (client) => {
    for (const [name, value] of Object.entries(settings)) await client.config('SET', name, value)
  })
}

const replication = (node: Address) => withClient(node, (client) => client.info('replication'))

/** All kinds of lock can be taken, re-entered and released, each without waiting for a replica. */
async function locksPass(redisson: Redisson, tag: string): Promise<void> {
  const rw = redisson.getReadWriteLock(`${uniqueName()}${tag}`)
  const locks = [redisson.getLock(`${uniqueName()}${tag}`), rw.readLock(), rw.writeLock()]
  for (const lock of locks)
    await redisson.run(async () => {
      const took = await timed(async () => {
        expect(await lock.tryLock()).to.equal(true)
        await lock.lock()
      })
      expect(took).to.be.below(WITHOUT_WAITING)
      await lock.unlock()
      await lock.unlock()
    })
}

/** Starts the replica, which has nothing, and has it stay in a stage of its first copy. */
async function enter(
  stage: Stage,
  primary: RedisNode,
  replica: RedisNode,
  restart = () => replica.restart(),
) {
  await configure(primary, { ...DEFAULTS, ...stage.primary })
  await restart()
  if (stage.replica) await configure(replica, stage.replica)
  const reached = async () => {
    const seen = await replication(primary)
    // It must not have read everything by the time at which the primary begins to send.
    if (stage.pauses && /state=wait_bgsave/.test(seen)) await replica.pause()
    return stage.seen.test(seen)
  }
  await waitUntil('the stage is reached', reached, 20_000, 10)
}

/** While the stage lasts locks pass. */
async function provesStage(stage: Stage, redisson: Redisson, primary: RedisNode, tag: string): Promise<void> {
  // What was counted before is remembered for a second.
  await waitUntil('no replica is waited for', async () => {
    const trying = redisson.getLock(`${uniqueName()}${tag}`).withLock(() => {})
    return (await timed(() => trying.catch(() => {}))) < WITHOUT_WAITING
  })
  await locksPass(redisson, tag)
  expect(await replication(primary), 'the stage lasted').to.match(stage.seen)
}

describe('A primary behind sentinels without a replica in sync', () => {
  let setup: SentinelSetup

  beforeEach(async () => {
    setup = await freshSentinel()
  })

  const connected = (options: Partial<RedissonOptions> = {}) =>
    createRedisson({ redis: through(setup), slavesSyncTimeout: SYNC, ...options })

  for (const [title, stage] of Object.entries(STAGES))
    it(`Behind sentinels, only replica ${title}: the primary grants alone (D4)`, async () => {
      const { primary, replicas } = await roles(setup)
      const redisson = await connected()
      await redisson.getLock(uniqueName()).withLock(() => {})
      await withClient(primary, fill)
      const [replica, other] = replicas
      await other.kill()
      await replica.kill()
      await enter(stage, primary, replica)
      await provesStage(stage, redisson, primary, '')
    })

  it('Behind sentinels, the old primary comes back as replica: the new one grants (D4)', async () => {
    const redisson = await connected()
    const { primary: old, replicas } = await roles(setup)
    await redisson.getLock(uniqueName()).withLock(() => {})
    await old.kill()
    await setup.waitForNewPrimary(old)
    const address = await setup.primary()
    const [primary, other] = [...replicas].sort((left) => (sameAddress(left, address) ? -1 : 1))
    await other!.kill()
    const stage = Object.values(STAGES)[0]!
    await enter(stage, primary!, old, async () => {
      await old.restart()
      // A sentinel does the same, but may take half a minute until it does.
      await withClient(old, (client) => client.replicaof(primary!.host, primary!.port))
    })
    await provesStage(stage, redisson, primary!, '')
  })

  it('Behind sentinels, the only replica that is online again is waited for (D4)', async () => {
    const { primary, replicas } = await roles(setup)
    const redisson = await connected()
    const [replica, other] = replicas
    await other.kill()
    await replica.restart()
    await waitUntil('it has acknowledged something', async () =>
      /state=online,offset=[1-9]/.test(await replication(primary)),
    )
    await replica.pause()
    // The count of replicas is remembered for a second.
    await waitUntil('an acquisition is refused for want of it', async () => {
      const trying = redisson.getLock(uniqueName()).withLock(() => {})
      const error = await trying.catch((refused: { code?: string }) => refused)
      return error?.code === 'LOCK_NOT_REPLICATED'
    })
    await replica.resume()
  })
})

describe('A primary of a cluster without a replica in sync', () => {
  let cluster: ClusterSetup

  beforeEach(async () => {
    cluster = await freshCluster({ replicas: 1 })
  })

  for (const [title, stage] of Object.entries(STAGES))
    it(`In a cluster, only replica ${title}: the primary grants alone (D4)`, async () => {
      const redisson = await createRedisson({
        redis: { nodes: cluster.nodes.map(({ host, port }: Address) => ({ host, port })) },
        slavesSyncTimeout: SYNC,
      })
      const tag = '{bar}' // slot 5061, of the first shard
      const [primary] = cluster.nodes
      const replica = cluster.nodes[3]!
      await redisson.getLock(`${uniqueName()}${tag}`).withLock(() => {})
      await withClient(primary!, (client) => fill(client, tag))
      await replica.kill()
      await enter(stage, primary!, replica)
      await provesStage(stage, redisson, primary!, tag)
    })
})
