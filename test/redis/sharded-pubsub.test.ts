import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Redis } from 'ioredis'
import { RedisRefusedError, type ShardedSubscriptionMode } from '../../src/index'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { SubscriberConnection } from '../../src/redis/listen/subscriber'
import { systemClock } from '../../src/util/clock'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { keptBySource } from '../kit/left-in'
import { SOON, subscribersOn } from '../kit/proves-locking'
import { type ClusterSetup, needs, startCluster, waitUntil, withClient } from '../kit/servers/index'

type Command = 'publish' | 'spublish'

// Both sides must use the same of the two, or they shout into different rooms. A cluster of its
// own, for the counts of commands are those of whole nodes.
describe('Sharded pub/sub in a cluster (D2)', () => {
  let setup: ClusterSetup

  before(async function () {
    await needs(this, 'sharded pub/sub')
    setup = await startCluster()
  })
  after(() => setup?.stop())

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
          async () => (await subscribersOn(setup.nodes, channel, counted)) === 1,
        )
        expect(await subscribersOn(setup.nodes, channel, uncounted)).to.equal(0)
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

  for (const mode of ['AUTO', 'ON', 'OFF'] as const)
    it(`${mode}, for a user without PUBSUB, ${mode === 'AUTO' ? 'is refused by create(), naming the right' : 'asks for nothing'}`, async () => {
      for (const node of setup.nodes)
        await withClient(node, (client) =>
          client.call('ACL', 'SETUSER', 'some', 'on', '>pw', '~*', '&*', '+@all', '-pubsub'),
        )
      const redis = { ...source(), options: { redisOptions: { username: 'some', password: 'pw' } } }
      const creating = createRedisson({ redis, shardedSubscriptionMode: mode })
      if (mode === 'AUTO') {
        const error = await rejection(creating)
        expect(error).to.be.instanceOf(RedisRefusedError)
        expect((error as RedisRefusedError).reply).to.match(/^NOPERM/)
        expect(error.message).to.match(/pubsub/i)
      } else await (await creating).getLock(uniqueName()).withLock(() => {})
    })

  it('A channel without waiters is unsubscribed, also when another one has moved', async () => {
    const [here, there] = await Promise.all([channelOf(0), channelOf(1)])
    const node = new Redis({ ...setup.nodes[0]!, lazyConnect: true })
    const events = { message() {}, confirmed() {}, broken() {}, error() {} }
    const connection = new SubscriberConnection(node, true, systemClock, events)
    try {
      await node.connect()
      connection.want(there)
      connection.want(here)
      // Both commands are sent. The node answers the first one with MOVED.
      await Promise.resolve()
      connection.drop(here)
      await once(node, 'moved')
      connection.drop(there)
      await waitUntil('the connection keeps neither', () => keptBySource(connection) === 0)
      expect(await subscribersOn(setup.nodes, here, 'SHARDNUMSUB')).to.equal(0)
    } finally {
      connection.close()
    }
  })

  it('A subscription answered with MOVED is sent again after a pause (V31)', async () => {
    const node = new Redis({ ...setup.nodes[0]!, lazyConnect: true })
    const events = { message() {}, confirmed() {}, broken() {}, error() {} }
    const connection = new SubscriberConnection(node, true, systemClock, events)
    try {
      await node.connect()
      connection.want(await channelOf(1))
      for (let answers = 0; answers < 3; answers++) await once(node, 'moved')
      await withClient(setup.nodes[0]!, (client) => client.config('RESETSTAT'))
      await sleep(1_000)
      const stats = await withClient(setup.nodes[0]!, (client) => client.info('errorstats'))
      expect(Number(/errorstat_MOVED:count=(\d+)/.exec(stats)?.[1] ?? 0)).to.be.below(5)
    } finally {
      connection.close()
    }
  })

  it('A connection looks at its channels once when a slot moves (V200)', async () => {
    const slot = calculateSlot(await channelOf(0))
    const channels = channelsIn(slot, 300)
    const node = new Redis({ ...setup.nodes[0]!, lazyConnect: true })
    let [confirmed, looks] = [0, 0]
    const events = { message() {}, confirmed: () => confirmed++, broken() {}, error() {} }
    const connection = new SubscriberConnection(node, true, systemClock, events)
    const forget = Reflect.get(connection, 'forget') as (phase: string) => void
    Reflect.set(connection, 'forget', (phase: string) => {
      looks++
      forget.call(connection, phase)
    })
    try {
      await node.connect()
      for (const channel of channels) connection.want(channel)
      await waitUntil('all are subscribed', () => confirmed === channels.length)
      await setup.migrateSlot(slot, 1)
      await waitUntil('it looks', () => looks > 0)
      await sleep(300)
      expect(looks).to.be.below(10)
    } finally {
      connection.close()
      await setup.migrateSlot(slot, 0)
    }
  })

  /** So many channels whose names share a hash tag of this slot. */
  function channelsIn(slot: number, count: number): string[] {
    let tag = 0
    while (calculateSlot(`{${tag}}`) !== slot) tag++
    return Array.from({ length: count }, (_, index) => `{${tag}}:${index}`)
  }

  /** A channel whose slot is on this node. */
  async function channelOf(node: number): Promise<string> {
    for (;;) {
      const channel = lockChannel(uniqueName())
      if ((await setup.ownerOf(calculateSlot(channel))) === setup.nodes[node]) return channel
    }
  }

  it('No sharded channel stays subscribed when the waiters are gone', async () => {
    const redisson = await createRedisson({ redis: source() })
    const name = uniqueName()
    const held = await redisson.getLock(name).acquire()
    expect(await redisson.getLock(name).tryLock(50)).to.equal(false)
    await held.unlock()
    await waitUntil(
      'no channel is left',
      async () => (await subscribersOn(setup.nodes, lockChannel(name), 'SHARDNUMSUB')) === 0,
    )
  })
})

describe('In a cluster whose servers do not know PUBSUB SHARDNUMSUB', () => {
  let setup: ClusterSetup

  before(async () => {
    // As servers before 7.0 do not.
    setup = await startCluster({ config: ['rename-command PUBSUB ""'] })
  })
  after(() => setup.stop())

  it('AUTO sends PUBLISH in a cluster whose servers do not know PUBSUB SHARDNUMSUB (D2)', async () => {
    const redis = { nodes: setup.nodes.map(({ host, port }) => ({ host, port })) }
    const redisson = await createRedisson({ redis })
    await redisson.getLock(uniqueName()).withLock(() => {})
    const calls = await Promise.all(
      setup.nodes.map((node) => withClient(node, (client) => client.info('commandstats'))),
    )
    expect(calls.join())
      .to.match(/cmdstat_publish:calls=[1-9]/)
      .and.not.contain('cmdstat_spublish:calls')
  })
})
