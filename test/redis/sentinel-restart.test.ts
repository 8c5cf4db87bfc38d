import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { logIn } from '../../src/redis/connect/ioredis-internals'
import { stayWithSentinels } from '../../src/redis/connect/sentinels'
import { systemClock } from '../../src/util/clock'
import { closeEach, enterEach, nameEach } from '../contract/closable'
import { createRedisson, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import {
  freshSentinel,
  type RedisNode,
  type SentinelSetup,
  sameAddress,
  waitUntil,
  withClient,
} from '../kit/servers/index'
import { track } from '../kit/servers/test-clients'
import { latch } from '../kit/tapped-transport'

const PROMPTLY = 5_000
/** A sentinel that is back is asked 5 s later, and the client connects again. */
const ASKED_AGAIN = 15_000

describe('Behind sentinels that were away for a while', () => {
  let setup: SentinelSetup
  let old: RedisNode

  beforeEach(async () => {
    setup = await freshSentinel()
    old = setup.nodes[0]!
  })

  const addressOf = ({ host, port }: { host: string; port: number }) => ({ host, port })

  /** The sentinels replace the primary. The old one does not obey them, and lives on as a primary without replicas. */
  async function replacePrimary(): Promise<RedisNode> {
    await withClient(old, async (redis) => {
      await redis.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof')
      await redis.incr('the last write')
      await redis.wait(2, 1_000)
    })
    await setup.failover()
    const now = await setup.primary()
    // A sentinel names the new primary before it announces the switch.
    for (const sentinel of setup.sentinels)
      await waitUntil('the sentinel has announced the switch', async () => {
        const master = await withClient(sentinel, (redis) => redis.call('SENTINEL', 'MASTER', setup.name))
        return (master as string[])[5] === String(now.port)
      })
    return setup.nodes.find((node) => sameAddress(node, now))!
  }

  /** How many connections the client has to the old primary. */
  async function connections(client: Redisson): Promise<number> {
    const list = (await withClient(old, (redis) => redis.client('LIST'))) as string
    return list.split('\n').filter((line) => line.includes(`name=rlock:${client.getId()}`)).length
  }

  const hasLeft = (client: Redisson, within: number) =>
    waitUntil('the client has left the old primary', async () => (await connections(client)) === 0, within)

  it('A client hears of a new primary from restarted sentinels, and wakes its waiters', async () => {
    const [names, name] = [nameEach(), uniqueName()]
    const proxy = await openProxy(old)
    const open = await closeEach(await createRedisson({ redis: proxy.url }), names)
    const client = await createRedisson({
      redis: { sentinels: setup.sentinels.map(addressOf), name: setup.name },
    })
    const entering = enterEach(client, names)
    // A connection that waits for replicas is opened by the first acquisition.
    await client.getLock(uniqueName()).withLock(() => {})
    for (const sentinel of setup.sentinels) await sentinel.restart()
    for (const sentinel of setup.sentinels)
      await waitUntil('all connections listen to it again', async () => {
        const list = (await withClient(sentinel, (redis) => redis.client('LIST'))) as string
        return list.split('\n').filter((line) => line.includes(' cmd=subscribe ')).length >= 3
      })
    const primary = await replacePrimary()
    await hasLeft(client, PROMPTLY)
    const held = await (await createRedisson({ redis: primary.url })).getLock(name).acquire()
    expect(await client.getLock(name).tryLock()).to.equal(false)
    await held.unlock()
    proxy.pointTo(primary)
    proxy.cut()
    await open()
    await entering.allInside(PROMPTLY)
  })

  it('A client that reached no sentinel during a failover asks for the primary later', async () => {
    const proxies = await Promise.all(setup.sentinels.map(openProxy))
    const natMap = Object.fromEntries(
      setup.sentinels.map(({ host, port }, at) => [`${host}:${port}`, addressOf(proxies[at]!)]),
    )
    const client = await createRedisson({
      redis: { sentinels: proxies.map(addressOf), name: setup.name, natMap },
    })
    await client.getLock(uniqueName()).withLock(() => {})
    for (const proxy of proxies) {
      proxy.breakOff()
    }
    const primary = await replacePrimary()
    const name = uniqueName()
    const held = await (await createRedisson({ redis: primary.url })).getLock(name).acquire()
    await Promise.all(proxies.map((proxy) => proxy.accept()))
    await hasLeft(client, ASKED_AGAIN)
    expect(await client.getLock(name).tryLock()).to.equal(false)
    await held.unlock()
  })

  it('A connection that subscribed after the switch asks the sentinels for the primary', async () => {
    const redis = track(
      new Redis({
        sentinels: setup.sentinels.map(addressOf),
        name: setup.name,
        failoverDetector: true,
        lazyConnect: true,
      }),
    )
    const switched = latch()
    const { connector } = redis as unknown as { connector: { connectToSentinel(...args: unknown[]): Redis } }
    const open = connector.connectToSentinel.bind(connector)
    connector.connectToSentinel = (...args) => {
      const sentinel = open(...args)
      const subscribe = sentinel.subscribe.bind(sentinel) as (channel: string) => Promise<unknown>
      Object.assign(sentinel, {
        async subscribe(channel: string) {
          await switched.opened
          return await subscribe(channel)
        },
      })
      return sentinel
    }
    stayWithSentinels(redis, { ...systemClock, after: (ms, callback) => systemClock.after(ms / 5, callback) })
    await redis.connect()
    expect(redis.stream.remotePort).to.equal(old.port)
    const primary = await replacePrimary()
    switched.open()
    await waitUntil('it has left the old primary', () => redis.stream.remotePort === primary.port, PROMPTLY)
  })

  it('A connection that is idle learns of sentinels at new addresses, and hears from them', async () => {
    const redis = track(
      new Redis({
        sentinels: setup.sentinels.map(addressOf),
        name: setup.name,
        failoverDetector: true,
        lazyConnect: true,
      }),
    )
    logIn(redis)
    let asked = 0
    stayWithSentinels(redis, {
      ...systemClock,
      after: (ms, callback) =>
        systemClock.after(ms / 5, () => {
          asked++
          callback()
        }),
    })
    await redis.connect()
    await waitUntil('it has asked all that it knew from the start', () => asked === 3)
    await setup.replaceSentinels()
    const primary = await replacePrimary()
    await waitUntil('it has left the old primary', () => redis.stream.remotePort === primary.port, PROMPTLY)
  })
})
