import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { keepOnOneServer } from '../../src/redis/connect/same-server'
import { type Clock, systemClock } from '../../src/util/clock'
import { closeEach, enterEach, nameEach } from '../contract/closable'
import { createRedisson, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { type Standalone, startStandalones, waitUntil, withClient } from '../kit/servers/index'
import { connectTo } from '../kit/servers/test-clients'

const PROMPTLY = 5_000

describe('A name that moves to another server while its old one lives on', () => {
  let old: Standalone
  let next: Standalone

  before(async () => {
    ;[old, next] = (await startStandalones({}, {})) as [Standalone, Standalone]
  })
  after(() => old.stop())

  const kill = (type: 'normal' | 'pubsub') =>
    withClient(old, (redis) => redis.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes'))

  /** How many connections the client has to this server. */
  async function connections(server: Standalone, client: Redisson): Promise<number> {
    const list = (await withClient(server, (redis) => redis.client('LIST'))) as string
    return list.split('\n').filter((line) => line.includes(`name=rlock:${client.getId()}`)).length
  }

  const isSubscribed = (server: Standalone) =>
    waitUntil('all callers are subscribed', async () => {
      const channels = await withClient(server, (redis) => redis.pubsub('CHANNELS'))
      return (channels as string[]).length >= 6
    })

  /** Callers that wait at the old server, whose name leads to the next one now; `open` lets them in there. */
  async function callersThatMove() {
    const names = nameEach()
    await closeEach(await createRedisson({ redis: old.url }), names)
    const open = await closeEach(await createRedisson({ redis: next.url }), names)
    const proxy = await openProxy(old)
    const client = await createRedisson({ redis: proxy.url })
    const entering = enterEach(client, names)
    await isSubscribed(old)
    proxy.pointTo(next)
    return { open, client, entering }
  }

  it('A subscriber follows the commands to it, and every waiter is notified (guarantee 2)', async () => {
    const { open, client, entering } = await callersThatMove()
    await kill('normal')
    await waitUntil('its commands have moved', async () => (await connections(next, client)) > 0)
    await open()
    await entering.allInside(PROMPTLY)
  })

  it('Commands that follow a subscriber wake every waiter (guarantee 2)', async () => {
    const { open, client, entering } = await callersThatMove()
    await kill('pubsub')
    await isSubscribed(next)
    await open()
    expect(await connections(old, client)).to.equal(1)
    await entering.allInside(2 * PROMPTLY)
  })

  it('A companion follows commands to another address, also without INFO (guarantee 2)', async () => {
    // Connections of plain ioredis, because they have not asked which run of a server they are connected to.
    const [commands, companion] = [connectTo(old.url), connectTo(old.url)]
    keepOnOneServer(commands, companion, systemClock)
    await Promise.all([commands.ping(), companion.ping()])
    for (const { options } of [commands, companion]) options.port = next.port
    commands.disconnect(true)
    await waitUntil('it has followed', () => companion.stream?.remotePort === next.port, PROMPTLY)
  })

  it('A service that spreads connections is left alone after some tries (guarantee 2)', async () => {
    const [commands, companion] = [connectTo(old.url), connectTo(next.url)]
    let opened = 0
    for (const each of [commands, companion]) each.on('ready', () => opened++)
    const pauses: number[] = []
    const clock: Clock = {
      ...systemClock,
      after(ms, callback) {
        pauses.push(ms)
        return systemClock.after(ms / 20, callback)
      },
    }
    keepOnOneServer(commands, companion, clock)
    await waitUntil('both have tried', () => opened === 7)
    await setTimeout(500)
    expect({ opened, pauses }).to.deep.equal({ opened: 7, pauses: [0, 500, 1_000, 2_000, 4_000] })
  })

  it('Commands follow a subscriber that the name leads there again and again (guarantee 1)', async () => {
    const name = uniqueName()
    const proxy = await openProxy(old)
    const client = await createRedisson({ redis: proxy.url })
    const held = await (await createRedisson({ redis: next.url })).getLock(name).acquire()
    proxy.pointTo(next)
    await kill('pubsub')
    await waitUntil('it has left the old server', async () => (await connections(old, client)) === 0)
    expect(await client.getLock(name).tryLock()).to.equal(false)
    await held.unlock()
  })
})
