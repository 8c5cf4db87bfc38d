import { expect } from 'chai'
import { type LockLostEvent, type RedissonClient, TimeUnit } from '../../src/index'
import { createRedisson, openRedis, rejection } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { freshServer, startStandalone, waitUntil } from '../kit/servers/index'

describe('What a client says of itself', () => {
  clientAndRedis('client-state')

  it('holds() lists the holds of a client: kind, name, owner in Redis, renewed or not', async () => {
    const lock = await redisson.getLock(name).acquire()
    const fenced = await redisson.getFencedLock(`${name}:fenced`).acquire({ leaseTime: 20_000 })
    const read = await redisson.getReadWriteLock(`${name}:rw`).readLock().acquire()
    const byName = Object.fromEntries(redisson.holds().map((held) => [held.lockName, held]))
    expect(byName[name]).to.include({ kind: 'lock', owner: lock.owner, isRenewed: true })
    expect(byName[`${name}:fenced`]).to.include({ kind: 'fenced', owner: fenced.owner, isRenewed: false })
    expect(byName[`${name}:rw`]).to.include({ kind: 'read', owner: read.owner })
    expect(byName[`${name}:fenced`]!.remaining).to.be.within(1, 20_000)
    expect(byName[name]!.heldFor).to.be.at.least(0)
    expect(await redis.hkeys(name)).to.deep.equal([lock.owner])
    for (const hold of [lock, fenced, read]) await hold.unlock()
    expect(redisson.holds()).to.deep.equal([])
  })

  it('stats() counts holds and waiters, and all counts return to zero', async () => {
    const hold = await redisson.getLock(name).acquire()
    const waiting = redisson.getLock(name).acquire()
    await waitUntil('it waits', async () => redisson.stats().waiting === 1)
    expect(redisson.stats()).to.include({ held: 1, waiting: 1 })
    await hold.unlock()
    await (await waiting).unlock()
    expect(redisson.stats()).to.include({ held: 0, waiting: 0, releasing: 0 })
    await waitUntil('nothing is in flight, and the channel is left', async () => {
      const { channels, inFlight } = redisson.stats()
      return channels + inFlight === 0
    })
  })

  it('Every connection has the name of its client, as CLIENT LIST shows', async () => {
    const server = await freshServer()
    const own = await createRedisson({ redis: server.url })
    const named = await createRedisson({
      redis: { host: server.host, port: server.port, connectionName: 'orders' },
    })
    await Promise.all([own, named].map((client) => client.getLock(name).withLock(() => {})))
    const list = String(await (await openRedis(server.url)).client('LIST'))
    const names = [...list.matchAll(/ name=(\S*)/g)].map(([, each]) => each)
    expect(names.filter((each) => each === `rlock:${own.getId()}`)).to.have.length(2)
    expect(names.filter((each) => each === `orders:rlock:${named.getId()}`)).to.have.length(2)
  })

  it('Events name the kind of lock and its owner', async () => {
    const lost = new Promise<LockLostEvent>((resolve) => redisson.once('lockLost', resolve))
    const hold = await redisson.getFencedLock(name).acquire()
    await redisson.getFencedLock(name).forceUnlock()
    expect(await lost).to.include({ kind: 'fenced', owner: hold.owner, lockName: name, reason: 'forced' })
  })

  it('once() calls a listener for one event, and off() takes it back before', async () => {
    let heard = 0
    const listener = () => {
      heard++
    }
    redisson.once('lockLost', listener)
    const lose = async () => {
      await redisson.getLock(name).acquire()
      await redisson.getLock(name).forceUnlock()
    }
    await lose()
    await lose()
    expect(heard).to.equal(1)
    redisson.once('lockLost', listener)
    redisson.off('lockLost', listener)
    await lose()
    expect(heard).to.equal(1)
  })

  it('unlock({ signal }) stops waiting when the signal aborts, and the release goes on', async () => {
    const reason = new Error('enough')
    const hold = await redisson.getLock(name).acquire()
    expect(await rejection(hold.unlock({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
    await redisson.getLock(name).lock(10, TimeUnit.SECONDS)
    expect(await rejection(redisson.getLock(name).unlock({ signal: 1 as never }))).to.be.instanceOf(TypeError)
  })

  it('A class of its own stands for a client where RedissonClient is expected', async () => {
    const double = { ...({} as RedissonClient), getId: () => 'double' } satisfies RedissonClient
    const idOf = (client: RedissonClient) => client.getId()
    expect(idOf(double)).to.equal('double')
    expect(idOf(redisson)).to.equal(redisson.getId())
  })

  it('unavailableAfter bounds how long a call goes on without an answer', async () => {
    const server = await startStandalone()
    const client = await createRedisson({ redis: server.url, unavailableAfter: 300 })
    await server.stop()
    const started = performance.now()
    expect(await rejection(client.getLock(name).lock())).to.include({ code: 'REDIS_UNAVAILABLE' })
    expect(performance.now() - started).to.be.within(250, 5_000)
  })
})
