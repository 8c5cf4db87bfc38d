import { expect } from 'chai'
import type { ShardedSubscriptionMode } from '../../src/index'
import { lockChannel } from '../../src/names/redis-names'
import { type ClusterSetup, startCluster, waitUntil, withClient } from '../servers'
import { closeAll, createRedisson, timed, uniqueName } from '../support/clients'
import { SOON, subscribersOn } from './support'

type Command = 'publish' | 'spublish'

// Both sides must use the same of the two, or they shout into different rooms. A cluster of its
// own, for the counts of commands are those of whole nodes.
describe('atlas D2: in a cluster', () => {
  let setup: ClusterSetup

  before(async () => {
    setup = await startCluster()
  })
  afterEach(closeAll)
  after(() => setup.stop())

  const source = () => ({ nodes: setup.nodes.map(({ host, port }) => ({ host, port })) })

  /** How often each publish command has been called, on all nodes. */
  async function calls(): Promise<Record<Command, number>> {
    const total = { publish: 0, spublish: 0 }
    for (const node of setup.nodes) {
      const stats = await withClient(node, (client) => client.info('commandstats'))
      for (const command of ['publish', 'spublish'] as const)
        total[command] += Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
    }
    return total
  }

  const modes: [ShardedSubscriptionMode, Command, 'SHARDNUMSUB' | 'NUMSUB'][] = [
    ['AUTO', 'spublish', 'SHARDNUMSUB'],
    ['ON', 'spublish', 'SHARDNUMSUB'],
    ['OFF', 'publish', 'NUMSUB'],
  ]
  for (const [mode, command, counted] of modes)
    it(`${mode} sends ${command.toUpperCase()}, and waiters hear it on every shard`, async () => {
      const holder = await createRedisson({ redis: source(), shardedSubscriptionMode: mode })
      const other = await createRedisson({ redis: source(), shardedSubscriptionMode: mode })
      const names = Array.from({ length: 9 }, () => uniqueName(mode))
      const holds = await Promise.all(names.map((name) => holder.getLock(name).acquire()))
      const waiting = names.map((name) => other.getLock(name).acquire())
      const uncounted = counted === 'NUMSUB' ? 'SHARDNUMSUB' : 'NUMSUB'
      for (const name of names) {
        const channel = lockChannel(name)
        await waitUntil(
          'the waiter is subscribed',
          async () => (await subscribersOn(setup.nodes, counted, channel)) === 1,
        )
        expect(await subscribersOn(setup.nodes, uncounted, channel)).to.equal(0)
      }
      const before = await calls()
      const took = await timed(async () => {
        await Promise.all(holds.map((hold) => hold.unlock()))
        await Promise.all(waiting)
      })
      expect(took).to.be.below(SOON)
      const after = await calls()
      const silent = command === 'publish' ? 'spublish' : 'publish'
      expect(after[command] - before[command]).to.equal(names.length)
      expect(after[silent] - before[silent]).to.equal(0)
    })

  it('AUTO without sharded pub/sub on the server sends PUBLISH', async () => {
    // What a server before 7.0 answers, for want of one: the command is unknown to this user.
    for (const node of setup.nodes)
      await withClient(node, (client) =>
        client.call('ACL', 'SETUSER', 'old', 'on', '>pw', '~*', '&*', '+@all', '-pubsub|shardnumsub'),
      )
    const redis = { ...source(), options: { redisOptions: { username: 'old', password: 'pw' } } }
    const holder = await createRedisson({ redis })
    const before = await calls()
    await holder.getLock(uniqueName()).withLock(() => {})
    const after = await calls()
    expect(after.publish - before.publish).to.equal(1)
    expect(after.spublish - before.spublish).to.equal(0)
  })

  it('nothing stays subscribed when the waiters are gone', async () => {
    const redisson = await createRedisson({ redis: source() })
    const name = uniqueName()
    const held = await redisson.getLock(name).acquire()
    expect(await redisson.getLock(name).tryLock(50)).to.equal(false)
    await held.unlock()
    await waitUntil(
      'no channel is left',
      async () => (await subscribersOn(setup.nodes, 'SHARDNUMSUB', lockChannel(name))) === 0,
    )
  })
})
