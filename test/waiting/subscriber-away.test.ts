import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { type Standalone, startStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, timed, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { closeProxies, openProxy } from '../support/proxies'

const LEASE = 60_000
const PROMPTLY = 5_000

describe('waiting while messages cannot arrive', () => {
  let server: Standalone
  let redis: Redis

  // Connections are killed and users changed here, so the server is ours alone.
  before(async () => {
    server = await startStandalone()
  })

  after(() => server.stop())

  beforeEach(async () => {
    redis = await openRedis(server.url)
  })

  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  async function foreignLock() {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(LEASE)
    return foreign
  }

  it('atlas A5: a release while the subscriber is away wakes the waiter when it is back', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    // In one transaction: the message finds nobody listening.
    const [, , heard] = (await redis
      .multi()
      .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      .del(foreign.name)
      .publish(foreign.channel, '0')
      .exec()) as [unknown, unknown, [null, number]]
    expect(heard[1]).to.equal(0)
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })

  it('atlas A5: a release while all connections are away wakes the waiter when they are back', async () => {
    const foreign = await foreignLock()
    const proxy = await openProxy(server)
    const redisson = await createRedisson({ redis: proxy.url })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    proxy.refuse()
    proxy.cut()
    await foreign.release()
    await sleep(300)
    await proxy.accept()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })

  it('guarantee 2: a subscription that the server refuses leaves the first waiter looking every second', async () => {
    await redis.call('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '&*', '+@all', '-subscribe')
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://deaf:secret@') })
    const errors: Error[] = []
    redisson.on('error', (error) => errors.push(error))
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('the refusal is reported', () => errors.length > 0)
    expect(errors[0]!.message).to.contain('NOPERM')
    await foreign.release()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    // What was wanted is forgotten with its waiter: nothing goes on being refused.
    await sleep(2_200)
    const before = errors.length
    await sleep(1_500)
    expect(errors.length).to.equal(before)
  })

  it('guarantee 8: a message that the server refuses to send fails no release, and local waiters wake', async () => {
    await redis.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-publish')
    const name = uniqueName()
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://mute:secret@') })
    const lock = redisson.getLock(name)
    const hold = await lock.acquire()
    const waiting = lock.acquire()
    await waitUntil('it waits', async () => (await new ForeignLock(redis, name).listeners()) === 1)
    await sleep(100)
    await hold.unlock()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    await (await waiting).unlock()
    expect(await redis.exists(name)).to.equal(0)
  })

  it('guarantee 2: a subscriber that went silent is cut, and its waiter looks again', async () => {
    const foreign = await foreignLock()
    const proxy = await openProxy(server)
    const redisson = await createRedisson({ redis: proxy.url })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    const present = proxy.connections
    proxy.stall()
    // Nobody is told; only the confirmation of a new subscription can wake the waiter.
    await foreign.vanish()
    const silent = await timed(() => waitUntil('it connects anew', () => proxy.connections > present, 20_000))
    expect(silent).to.be.lessThan(10_000)
    proxy.resume()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })
})
